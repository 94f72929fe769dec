#!/usr/bin/env node
// Bundles an example and runs it: node examples/run.mjs reminder
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const here = import.meta.dirname;
const names = readdirSync(here).filter((name) => existsSync(join(here, name, "main.ts")));
const [name] = process.argv.slice(2);
if (!names.includes(name)) {
  process.stderr.write(`usage: npm run example -- ${names.join(" | ")}\n`);
  process.exit(2);
}

// Node 20 cannot run TypeScript, so the example is bundled first.
const folder = mkdtempSync(join(tmpdir(), "bobbin-example-"));
const outfile = join(folder, "main.mjs");
process.setSourceMapsEnabled(true);
try {
  await build({
    entryPoints: [join(here, name, "main.ts")],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    sourcemap: "inline",
    // CommonJS packages such as ws use `require` for Node's modules.
    banner: {
      js: `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);`,
    },
    // esbuild prints its errors itself.
    logLevel: "error",
  });
} catch {
  process.exit(1);
}
try {
  await import(pathToFileURL(outfile).href);
} catch (cause) {
  const line = lineIn(cause);
  process.stderr.write(
    `${name}: ${cause?.message ?? cause}\n${line === undefined ? "" : `    at ${line}\n`}`,
  );
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}

/** The first stack frame of an error that is in the examples' sources. */
function lineIn(cause) {
  const frames = String(cause?.stack).matchAll(/\(?((?:file:\/\/)?\/[^()\s]+\.ts)(:\d+:\d+)\)?$/gm);
  for (const [, file, position] of frames) {
    const path = relative(here, file.startsWith("file:") ? fileURLToPath(file) : file);
    if (!path.startsWith("..")) return `examples/${path}${position}`;
  }
  return undefined;
}
