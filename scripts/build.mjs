// One program, bundled: a cold start reads one file. What is loaded lazily stays in files of its own.
import { rmSync } from "node:fs";
import { build } from "esbuild";

rmSync("dist", { recursive: true, force: true });
const result = await build({
  entryPoints: { bobbin: "packages/host/src/cli/bobbin.ts" },
  outdir: "dist",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  minifySyntax: true,
  minifyWhitespace: true,
  keepNames: false,
  metafile: true,
  legalComments: "none",
  chunkNames: "chunk-[hash]",
  banner: {
    // Some dependencies are CommonJS and require Node's modules.
    js: 'import{createRequire as __cr}from"node:module";const require=__cr(import.meta.url);',
  },
});
const size = Object.values(result.metafile.outputs).reduce((sum, output) => sum + output.bytes, 0);
process.stderr.write(`built dist/ (${Math.round(size / 1024)} kB)\n`);
