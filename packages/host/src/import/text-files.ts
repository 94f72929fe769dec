import { basename, dirname, join } from "node:path";
import { messageOf } from "../errors.ts";
import type { Files, WorkspaceFiles } from "../platform/platform.ts";
import { ImportProblem } from "./pending-import.ts";

/** Limit on the size of a file with settings or instructions. */
const MAX_BYTES = 4 * 1024 * 1024;

export type TextFiles = Pick<Files, "openRead">;

/** Reads a text file; undefined if it does not exist. A file larger than `maxBytes` is refused without reading it. */
export async function readText(
  files: TextFiles,
  path: string,
  maxBytes = MAX_BYTES,
): Promise<string | undefined> {
  let bytes: Uint8Array | "large" | undefined;
  try {
    const file = await files.openRead(path);
    if (file === undefined) return undefined;
    try {
      const size = await file.size();
      bytes = size > maxBytes ? "large" : await file.read(0, size);
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw new ImportProblem(`${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
  if (bytes === "large") throw new ImportProblem(`${path} is too large to be imported`);
  return Buffer.from(bytes)
    .toString("utf8")
    .replace(/^\uFEFF/, "");
}

/** Whether a file exists and is not blank. */
export async function hasText(files: TextFiles, path: string): Promise<boolean> {
  return ((await readText(files, path)) ?? "").trim() !== "";
}

export type JsonObject = { readonly [key: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads a JSON object from a file; undefined if the file does not exist. */
export async function readJson(
  files: TextFiles,
  path: string,
  maxBytes?: number,
): Promise<JsonObject | undefined> {
  const text = await readText(files, path, maxBytes);
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ImportProblem(`${path} is not valid JSON: ${messageOf(cause)}`, { cause });
  }
  if (!isObject(value)) throw new ImportProblem(`${path} does not contain a JSON object`);
  return value;
}

/** Writes a file atomically, and creates its folders. Refuses a symlink anywhere below `root`. */
export async function writeText(
  ports: { readonly files: Pick<Files, "realPath">; readonly workspace: WorkspaceFiles },
  root: string,
  path: string,
  bytes: Uint8Array | string,
  mode?: number,
): Promise<void> {
  const real = await ports.files.realPath(root);
  const wanted = join(real, path.slice(root.length));
  await ports.workspace.replace(path, typeof bytes === "string" ? Buffer.from(bytes) : bytes, {
    mode,
    isAllowed: (target) => target === wanted,
  });
}

/** Replaces the file name `CLAUDE.md` by `AGENTS.md`. Other mentions of the agent are not changed. */
export function withOwnFileNames(text: string): string {
  return text.replace(/(?<![\w-])CLAUDE\.md(?![\w-])/g, "AGENTS.md");
}

/** The name of a file without its extension. */
export function stem(path: string, ending: string): string {
  return basename(path, ending);
}

/** The path relative to a folder that contains it. */
export function below(folder: string, path: string): string {
  return path.slice(folder.length + (dirname(folder) === folder ? 0 : 1));
}
