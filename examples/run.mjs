#!/usr/bin/env node
// Runs an example from its sources: node examples/run.mjs reminder
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const here = import.meta.dirname;
const names = readdirSync(here, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const [name] = process.argv.slice(2);
if (!names.includes(name)) {
  process.stderr.write(`usage: npm run example -- ${names.join(" | ")}\n`);
  process.exit(2);
}

// Node 20 reads no TypeScript, so it is made into one file first.
const folder = mkdtempSync(join(tmpdir(), "bobbin-example-"));
const outfile = join(folder, "main.mjs");
try {
  await build({
    entryPoints: [join(here, name, "main.ts")],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
  });
  await import(pathToFileURL(outfile).href);
} finally {
  rmSync(folder, { recursive: true });
}
