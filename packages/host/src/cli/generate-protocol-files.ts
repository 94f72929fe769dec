import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeFolders } from "../platform/make-folders.ts";

/** Writes the protocol's types as JSON Schema or as TypeScript. */
export async function generate(what: string, out: string, experimental: boolean): Promise<void> {
  const files = what === "generate-ts" ? await typescript(experimental) : await jsonSchema(experimental);
  for (const [path, text] of files) {
    const file = join(out, path);
    await makeFolders(dirname(file), 0o777);
    await writeFile(file, text);
  }
  process.stderr.write(`Wrote ${files.size} files to ${out}\n`);
}

async function jsonSchema(experimental: boolean): Promise<ReadonlyMap<string, string>> {
  const { jsonSchemaFiles } = await import("@bobbin/protocol/generate/json-schema");
  return jsonSchemaFiles({ experimental });
}

async function typescript(experimental: boolean): Promise<ReadonlyMap<string, string>> {
  const { typescriptFiles } = await import("@bobbin/protocol/generate/typescript");
  return typescriptFiles({ experimental });
}
