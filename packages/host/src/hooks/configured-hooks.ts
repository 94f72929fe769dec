import { dirname, isAbsolute, join } from "node:path";
import type { HookErrorInfo, HookMetadata, HookSource, HookTrustStatus } from "@bobbin/protocol";
import { messageOf } from "../errors.ts";
import type { Files } from "../platform/platform.ts";
import { type Projects, projectFolders } from "../tool/consent/project-rules.ts";
import { trustIn } from "../tool/consent/project-trust-lookup.ts";
import { type HookDefinition, hookDigest, hookKey, isTable, readHooks } from "./hook-config.ts";

/** A hook with its source, and whether it is enabled and trusted. */
export interface ConfiguredHook extends HookDefinition {
  readonly key: string;
  readonly source: HookSource;
  readonly sourcePath: string;
  readonly displayOrder: number;
  readonly enabled: boolean;
  readonly digest: string;
  readonly trust: HookTrustStatus;
}

export interface FoundHooks {
  readonly hooks: readonly ConfiguredHook[];
  readonly warnings: readonly string[];
  readonly errors: readonly HookErrorInfo[];
}

/** A layer of hooks outside of projects. */
export interface HookLayer {
  readonly source: "system" | "user" | "sessionFlags";
  /** Path of the file with `[hooks]`, or a placeholder for the command line. */
  readonly path: string;
  /** Folder whose `hooks.json` belongs to this layer; null if there is none. */
  readonly folder: string | null;
  /** The table `[hooks]`; undefined if it is missing. */
  readonly table: unknown;
}

/** The current hooks outside of projects. Each list starts with the layer of the lowest precedence. */
export interface HookConfiguration {
  /** Layers with lower precedence than project files. */
  readonly below: readonly HookLayer[];
  /** Layers with higher precedence than project files. */
  readonly above: readonly HookLayer[];
  /** The `[hooks]` tables of requirements.toml files. */
  readonly required: readonly RequiredHooks[];
  /** If administrators allow managed hooks only: the folders whose hooks still run. Otherwise null. */
  readonly onlyFrom: readonly string[] | null;
}

export interface RequiredHooks {
  readonly file: string;
  readonly table: unknown;
}

export interface HookFilePorts {
  readonly files: Pick<Files, "readText" | "exists" | "realPath">;
  /** Folder of the user's config.toml. */
  readonly folder: string;
  layers(): HookConfiguration;
  projects(): Projects;
}

interface FindOptions {
  /** Whether to include the hooks of an untrusted project, for display. */
  readonly untrusted?: boolean;
}

const HOOKS_FILE = "hooks.json";

/** Limit on the length of a file. */
const MAX_FILE = 1024 * 1024;

/**
 * Finds the hooks for a folder. All layers add hooks, in this order: required ones, the machine's, the user's, those
 * of a trusted project around the folder, the profile's, the command line's. Models can change the files of a
 * project, so a project's hooks run only if a person has trusted their current content.
 */
export async function findHooks(
  ports: HookFilePorts,
  cwd: string | undefined,
  { untrusted = false }: FindOptions = {},
): Promise<FoundHooks> {
  const { below, above, required, onlyFrom } = ports.layers();
  const found = new Found(statesOf([...below, ...above]));
  const isManaged = (file: string): boolean => onlyFrom?.includes(dirname(file)) ?? true;
  const counted = (layers: readonly HookLayer[]): readonly HookLayer[] =>
    layers.filter(({ source, path }) => (source === "system" ? isManaged(path) : onlyFrom === null));
  for (const { file, table } of required)
    if (isManaged(file)) found.add(table, managedPath(table, file), "system");
  await addLayers(ports, counted(below), found);
  if (onlyFrom === null && cwd !== undefined) {
    const isTrusted = (await trustIn(ports.files, cwd, ports.projects())) === "trusted";
    if (isTrusted || untrusted) await addProject(ports, cwd, found, isTrusted);
  }
  await addLayers(ports, counted(above), found);
  return found;
}

/**
 * Returns the folder with the scripts of required hooks, if the table names one. The Codex CLI uses that folder in
 * the keys of these hooks.
 */
function managedPath(table: unknown, file: string): string {
  const folder = isTable(table) ? table["managed_dir"] : undefined;
  return typeof folder === "string" && isAbsolute(folder) ? folder : file;
}

async function addLayers(
  { files }: HookFilePorts,
  layers: readonly HookLayer[],
  found: Found,
): Promise<void> {
  const written = await Promise.all(
    layers.map(async ({ folder }) =>
      folder === null ? undefined : readJson(files, join(folder, HOOKS_FILE), found),
    ),
  );
  for (const [nth, { path, folder, source, table }] of layers.entries()) {
    if (written[nth] !== undefined) found.add(written[nth], join(folder!, HOOKS_FILE), source);
    if (table !== undefined) found.add(table, path, source);
  }
}

/** Adds the hooks of a project, from its root down to `cwd`. In an untrusted project none of them runs. */
async function addProject(
  { files, folder: own }: HookFilePorts,
  cwd: string,
  found: Found,
  isTrusted: boolean,
): Promise<void> {
  const source = isTrusted ? "project" : "untrustedProject";
  for (const folder of await projectFolders(files, await files.realPath(cwd).catch(() => cwd))) {
    for (const name of [".bobbin", ".codex"]) {
      if (join(folder, name) === own) continue;
      const json = join(folder, name, HOOKS_FILE);
      const written = await readJson(files, json, found);
      if (written !== undefined) found.add(written, json, source);
      const toml = join(folder, name, "config.toml");
      const ofProject = await readToml(files, toml, found);
      if (ofProject !== undefined) found.add(ofProject, toml, source);
    }
  }
}

/** Collects hooks in the order in which they are found. */
class Found implements FoundHooks {
  readonly hooks: ConfiguredHook[] = [];
  readonly warnings: string[] = [];
  readonly errors: HookErrorInfo[] = [];
  readonly #states: ReadonlyMap<string, HookState>;

  constructor(states: ReadonlyMap<string, HookState>) {
    this.#states = states;
  }

  add(table: unknown, sourcePath: string, from: HookLayer["source"] | "project" | "untrustedProject"): void {
    const { hooks, warnings } = readHooks(table, sourcePath);
    this.warnings.push(...warnings);
    for (const hook of hooks) {
      const key = hookKey(sourcePath, hook);
      const digest = hookDigest(hook);
      const state = this.#states.get(key);
      const isManaged = from === "system";
      this.hooks.push({
        ...hook,
        key,
        source: from === "untrustedProject" ? "project" : from,
        sourcePath,
        displayOrder: this.hooks.length,
        // A user cannot disable the hooks of an administrator.
        enabled: isManaged || state?.enabled !== false,
        digest,
        trust: trustOf(from, digest, state?.trustedHash),
      });
    }
  }

  fail(path: string, cause: unknown): void {
    this.errors.push({ path, message: messageOf(cause) });
  }
}

function trustOf(
  from: Parameters<Found["add"]>[2],
  digest: string,
  trusted: string | undefined,
): HookTrustStatus {
  switch (from) {
    case "system":
      return "managed";
    case "user":
    case "sessionFlags":
      return "trusted";
    case "untrustedProject":
      return "untrusted";
    case "project":
      if (trusted === undefined) return "untrusted";
      return trusted === digest ? "trusted" : "modified";
  }
}

interface HookState {
  readonly enabled: boolean | undefined;
  readonly trustedHash: string | undefined;
}

/** Reads `[hooks.state."KEY"]` of the user's layers. The layers of the machine and of projects cannot set it. */
function statesOf(layers: readonly HookLayer[]): ReadonlyMap<string, HookState> {
  const states = new Map<string, HookState>();
  for (const { source, table } of layers) {
    if (source === "system" || !isTable(table) || !isTable(table["state"])) continue;
    for (const [key, state] of Object.entries(table["state"])) {
      if (!isTable(state)) continue;
      const { enabled, trusted_hash: hash } = state;
      const below = states.get(key);
      states.set(key, {
        enabled: typeof enabled === "boolean" ? enabled : below?.enabled,
        trustedHash: typeof hash === "string" ? hash : below?.trustedHash,
      });
    }
  }
  return states;
}

async function readJson(files: HookFilePorts["files"], path: string, found: Found): Promise<unknown> {
  return read(files, path, found, (text) => {
    const file: unknown = JSON.parse(text);
    if (!isTable(file)) throw new Error("expected an object with `hooks`");
    return file["hooks"];
  });
}

async function readToml(files: HookFilePorts["files"], path: string, found: Found): Promise<unknown> {
  return read(files, path, found, async (text) => {
    const { parse } = await import("@decimalturn/toml-patch");
    return (parse(text) as { readonly hooks?: unknown }).hooks;
  });
}

async function read(
  files: HookFilePorts["files"],
  path: string,
  found: Found,
  parse: (text: string) => unknown,
): Promise<unknown> {
  try {
    const text = await files.readText(path);
    if (text === undefined) return undefined;
    if (text.length > MAX_FILE) throw new Error(`it is longer than ${MAX_FILE} characters`);
    return await parse(text);
  } catch (cause) {
    found.fail(path, cause);
    return undefined;
  }
}

/** Whether a hook may run. */
export function mayRunHook({ enabled, trust }: ConfiguredHook): boolean {
  return enabled && (trust === "trusted" || trust === "managed");
}

/** A hook in the shape of `hooks/list`. */
export function hookMetadata(hook: ConfiguredHook): HookMetadata {
  return {
    handlerType: "command",
    async: hook.async,
    command: hook.command,
    additionalContextLimit: hook.additionalContextLimit,
    currentHash: hook.digest,
    displayOrder: hook.displayOrder,
    enabled: hook.enabled,
    environmentId: null,
    eventName: hook.event,
    isManaged: hook.trust === "managed",
    key: hook.key,
    matcher: hook.matcher,
    pluginId: null,
    source: hook.source,
    sourcePath: hook.sourcePath,
    statusMessage: hook.statusMessage,
    timeoutSec: hook.timeoutSec,
    trustStatus: hook.trust,
  };
}
