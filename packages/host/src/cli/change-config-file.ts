import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { type ConfigChange, keysOf } from "../config/edit/config-edits.ts";
import { homeDirectory } from "../config/home-folder.ts";
import { unknownKeys } from "../config/keys/unknown-keys.ts";
import { valueAt } from "../config/layered-config.ts";
import { readOverride } from "../config/overrides.ts";
import type { Table } from "../config/table-reader.ts";
import { messageOf } from "../errors.ts";
import { makeFolders } from "../platform/make-folders.ts";
import { nodePlatform } from "../platform/node.ts";
import { checkConfig } from "./config-print.ts";
import { openHomeConfig } from "./home-config.ts";
import { escapeControls, Output } from "./terminal-output.ts";

/** Writes a value. Resolves with the exit code. */
export async function setValue(
  key: string,
  given: string,
  { force = false }: { readonly force?: boolean },
): Promise<number> {
  const path = keysOf(key);
  if (typeof path === "string") return fail(`${key}: ${path}`);
  const { parse } = await import("@decimalturn/toml-patch");
  const [, value] = readOverride(`value=${given}`, parse);
  const table = path.reduceRight<unknown>((inner, one) => ({ [one]: inner }), value) as Table;
  const [unknown] = unknownKeys(table);
  if (unknown !== undefined && !force) {
    const meant = unknown.likely === null ? "." : `; did you mean ${unknown.likely}?`;
    return fail(`there is no key ${unknown.path.join(".")}${meant} --force writes it all the same.`);
  }
  return write(key, value);
}

/** Removes a value, or a table. Resolves with the exit code. */
export async function unsetValue(key: string): Promise<number> {
  const path = keysOf(key);
  if (typeof path === "string") return fail(`${key}: ${path}`);
  const { layers } = here();
  const own = (await layers.read()).find(({ name }) => name.type === "user" && name.profile === null);
  if (valueAt(own?.config, path) === undefined) return fail(`${key} is not set in ${layers.path}`);
  return write(key, null);
}

/** Opens config.toml in the user's editor, then checks it. Resolves with the exit code. */
export async function editFile(): Promise<number> {
  const editor = process.env["VISUAL"] || process.env["EDITOR"] || "vi";
  const { path } = here().layers;
  await makeFolders(dirname(path));
  await writeFile(path, "", { flag: "a" });
  // Run by a shell, because the value may contain arguments: EDITOR="code --wait".
  const child = spawn("/bin/sh", ["-c", `${editor} "$1"`, "sh", path], { stdio: "inherit" });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code !== 0) return fail(`${editor} ended with exit code ${code}`);
  return checkConfig({});
}

async function write(keyPath: string, value: ConfigChange["value"]): Promise<number> {
  const { writer } = here();
  try {
    const edit = { keyPath, value, mergeStrategy: "replace" } as const;
    const { reply } = await writer.write({ edits: [edit] });
    new Output(process.stdout).line(
      `${value === null ? "Removed" : "Set"} ${escapeControls(keyPath)}: ${escapeControls(reply.filePath)}`,
    );
    if (reply.overriddenMetadata !== null)
      process.stderr.write(`bobbin: ${reply.overriddenMetadata.message}\n`);
    return 0;
  } catch (cause) {
    return fail(messageOf(cause));
  }
}

function here() {
  return openHomeConfig(nodePlatform(), homeDirectory());
}

function fail(why: string): number {
  process.stderr.write(`bobbin: ${escapeControls(why)}\n`);
  return 1;
}
