// Generates docs/configuration.md and docs/config.schema.json from the catalogue of config keys
// (packages/host/src/config/keys).
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const keys = "packages/host/src/config/keys";
const folder = mkdtempSync("dist/reference-");
try {
  const outfile = join(folder, "reference.mjs");
  await build({
    stdin: {
      contents: `export { configReference } from "./reference-page.ts";\nexport { configSchema } from "./json-schema.ts";`,
      resolveDir: keys,
      loader: "ts",
    },
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    outfile,
  });
  const { configReference, configSchema } = await import(pathToFileURL(outfile).href);
  writeFileSync("docs/configuration.md", configReference());
  writeFileSync("docs/config.schema.json", `${JSON.stringify(configSchema(), null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true });
}
