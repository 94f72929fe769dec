// Creates the home folders of other agents from texts.
import { mkdir, readdir, readFile, readlink, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { freshFolder } from "./folder.ts";
import { type HostProcess, stdioHost } from "./host-process.ts";
import type { Received, WireClient } from "./wire-client.ts";

/** Texts of files by their paths; an object is written as JSON, a list as JSON lines. */
export type Tree = Readonly<Record<string, unknown>>;

/** Writes a tree below a folder. */
export async function putTree(folder: string, tree: Tree): Promise<void> {
  for (const [path, content] of Object.entries(tree)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), bytesOf(content));
  }
}

function bytesOf(content: unknown): string | Uint8Array {
  if (typeof content === "string" || content instanceof Uint8Array) return content;
  if (Array.isArray(content)) return content.map((line) => `${asLine(line)}\n`).join("");
  return `${JSON.stringify(content, null, 2)}\n`;
}

function asLine(line: unknown): string {
  return typeof line === "string" ? line : JSON.stringify(line);
}

/** Every file below a folder with its text, and every symlink with its target. */
export async function treeOf(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isSymbolicLink()) found[path.slice(folder.length + 1)] = `-> ${await readlink(path)}`;
    else if (entry.isFile()) found[path.slice(folder.length + 1)] = await readFile(path, "utf8");
  }
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Whether a file may be run. */
export async function isExecutable(path: string): Promise<boolean> {
  return ((await stat(path)).mode & 0o100) !== 0;
}

export interface MovingIn {
  /** The user's home folder, which contains the homes of other agents. */
  readonly user: string;
  /** Bobbin's. */
  readonly home: string;
  readonly host: HostProcess;
  readonly client: WireClient;
}

/** Starts a host whose user has these files in the home folder. */
export async function movingIn(tree: Tree, own: Tree = {}, user?: string): Promise<MovingIn> {
  const folder = user ?? (await freshFolder("person"));
  const home = join(folder, ".bobbin");
  await putTree(folder, tree);
  await mkdir(home, { recursive: true });
  await putTree(home, own);
  const env = { HOME: folder, CODEX_HOME: "", CLAUDE_CONFIG_DIR: "" };
  const { host, client } = await stdioHost({ home, env, capabilities: { experimentalApi: true } });
  return { user: folder, home, host, client };
}

/** The results for the items of one type. */
export interface ImportResult {
  readonly itemType: string;
  readonly successes: readonly { readonly source: string; readonly target: string }[];
  readonly failures: readonly { readonly source: string; readonly message: string }[];
}

/** Imports items. Returns the reply and everything that was sent after it. */
export async function importAll(
  client: WireClient,
  migrationItems: readonly object[],
  more: object = {},
): Promise<{ importId: string; frames: readonly Received[]; results: readonly ImportResult[] }> {
  const from = client.frames.length;
  const { importId } = await client.call("externalAgentConfig/import", { migrationItems, ...more });
  const done = await client.waitFor(
    ({ method, params }) => method === "externalAgentConfig/import/completed" && params.importId === importId,
    "the end of the import",
    from,
  );
  return { importId, frames: client.frames.slice(from), results: done.params.itemTypeResults };
}
