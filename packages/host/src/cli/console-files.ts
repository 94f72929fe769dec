import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  contentTypeOf,
  type Encoding,
  type StaticFile,
  type StaticFilesByPath,
} from "../server/site/static-files.ts";

/** The folder that the build writes the console to; undefined if the program runs from its sources. */
const FOLDER = typeof __dirname === "string" ? join(__dirname, "console") : undefined;

const ENDINGS: Readonly<Record<Encoding, string>> = { br: ".br", gzip: ".gz" };

let reading: Promise<StaticFilesByPath> | undefined;

/** Reads the console's files into memory, once, when a browser first requests one. Empty if the console is not built. */
export function consoleFiles(folder = FOLDER): Promise<StaticFilesByPath> {
  if (folder === undefined) return Promise.resolve(new Map());
  reading ??= readAll(folder).catch((cause: unknown) => {
    reading = undefined;
    throw cause;
  });
  return reading;
}

async function readAll(folder: string): Promise<StaticFilesByPath> {
  const files = new Map<string, StaticFile>();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const type = contentTypeOf(entry.name);
    if (!entry.isFile() || type === undefined) continue;
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(folder.length).replaceAll("\\", "/");
    files.set(name, { type, body: await readFile(path), encoded: await readEncoded(path) });
  }
  return files;
}

async function readEncoded(path: string): Promise<NonNullable<StaticFile["encoded"]>> {
  const found: Partial<Record<Encoding, Buffer>> = {};
  for (const [encoding, ending] of Object.entries(ENDINGS) as [Encoding, string][]) {
    const body = await readFile(path + ending).catch(() => undefined);
    if (body !== undefined) found[encoding] = body;
  }
  return found;
}
