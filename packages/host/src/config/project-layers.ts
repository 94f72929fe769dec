import { createHash } from "node:crypto";
import { join, relative } from "node:path";
import type { NotedFiles } from "../platform/file-read-cache.ts";
import {
  type Projects,
  type ProjectTrust,
  projectFolders,
  type TrustLevel,
} from "../tool/consent/project-rules.ts";
import { CONFIG_FILE, configPath, readConfigFile, type TomlReader } from "./config-file.ts";
import { Layer } from "./layer.ts";
import { withAbsolutePaths } from "./layer-files.ts";
import type { Table } from "./table-reader.ts";

/** Folders of a project that may contain a config.toml. The later one takes precedence. */
const FOLDERS = [".codex", ".bobbin"];

export interface ProjectLayers {
  /** The layer of the deepest folder comes first. */
  readonly layers: readonly Layer[];
  /** Files with keys that a project may not set. */
  readonly ignored: readonly IgnoredKeys[];
  /** Texts of the project's `hooks.json` files. */
  readonly hookTexts: readonly string[];
}

interface IgnoredKeys {
  readonly file: string;
  readonly keys: readonly string[];
}

interface ProjectLookup {
  readonly cwd: string;
  /** The home. The config.toml in it is the user's file, not a project file. */
  readonly home: string;
  readonly projects: Projects;
}

/**
 * Reads `.codex/config.toml` and `.bobbin/config.toml` in all folders from the project's root down to `cwd`. Models
 * can change these files, like all files of a project, so a file is used only if a person has trusted its current
 * content.
 */
export async function readProjectLayers(
  files: NotedFiles,
  toml: TomlReader,
  { cwd, home, projects }: ProjectLookup,
): Promise<ProjectLayers> {
  const real = await files.realPath(cwd).catch(() => cwd);
  const folders = await projectFolders(files, real);
  const root = folders[0]!;
  const level = [real, cwd, root].map((path) => projects.get(path)?.level).find((one) => one != null) ?? null;
  const layers: Layer[] = [];
  const ignored: IgnoredKeys[] = [];
  const hookTexts: string[] = [];
  for (const folder of folders.flatMap((one) => FOLDERS.map((name) => join(one, name)))) {
    // A folder that cannot be accessed is treated as missing.
    if (join(folder, CONFIG_FILE) === configPath(home) || !(await files.exists(folder).catch(() => false)))
      continue;
    // An unreadable file is ignored here, because `hooks/list` reports its errors.
    const hooks = await files.readText(join(folder, "hooks.json")).catch(() => undefined);
    if (hooks !== undefined) hookTexts.push(hooks);
    const file = join(folder, CONFIG_FILE);
    const text = await readConfigFile(files, file);
    if (text === undefined) continue;
    const disabledReason = whyDisabled({ root, file, level, trust: projects.get(root), text });
    const read = toml.parse(file, text);
    // A disabled file may be invalid.
    const { table: all } = disabledReason === null ? await read : await read.catch(() => ({ table: {} }));
    const { table, keys } = withoutHostKeys(all);
    if (keys.length > 0 && disabledReason === null) ignored.push({ file, keys });
    layers.unshift(
      new Layer({
        name: { type: "project", dotCodexFolder: folder },
        file,
        text,
        table: withAbsolutePaths(table, folder),
        disabledReason,
      }),
    );
  }
  return { layers, ignored, hookTexts };
}

/** Returns the value of `trusted_files` that enables a project's layers with their current content. */
export function trustedFiles(root: string, layers: readonly Layer[]): Readonly<Record<string, string>> {
  const own = layers.filter(({ name }) => name.type === "project");
  return Object.fromEntries(own.map(({ file, text }) => [relative(root, file!), fileDigest(text ?? "")]));
}

function fileDigest(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

interface FoundFile {
  readonly root: string;
  readonly file: string;
  readonly level: TrustLevel | null;
  readonly trust: ProjectTrust | undefined;
  readonly text: string;
}

function whyDisabled({ root, file, level, trust, text }: FoundFile): string | null {
  // Clients recognize by "marked as untrusted" that the user has already decided.
  if (level === "untrusted") return `${root} is marked as untrusted in config.toml. ${HOW_TO} ${root}.`;
  if (level === null) return `${root} is not a trusted project. ${HOW_TO} ${root}.`;
  if (trust?.files?.[relative(root, file)] === fileDigest(text)) return null;
  return `${file} is not as it was when its project was trusted. ${HOW_TO} ${root}.`;
}

const HOW_TO = "To use its configuration, run: bobbin trust";

/**
 * Keys that a project may not set: where credentials are sent, which programs the host starts by itself, who is
 * trusted, and settings of the host rather than of a thread.
 */
const HOST_KEYS: ReadonlySet<string> = new Set([
  "openai_base_url",
  "chatgpt_base_url",
  "cli_auth_credentials_store",
  "mcp_oauth_credentials_store",
  "model_provider",
  "model_providers",
  "agents",
  "notify",
  "otel",
  "permissions",
  "profile",
  "profiles",
  "projects",
  "subjects",
  "rap",
  "rap_servers",
  "feedback",
  "forced_chatgpt_workspace_id",
  "forced_login_method",
  "goals",
  "journal_sync",
  "login",
  "max_connections",
  "max_resident_threads",
  "server_request_deadline_secs",
  "thread_unload_delay_secs",
  "usage",
]);

function withoutHostKeys(table: Table): { readonly table: Table; readonly keys: readonly string[] } {
  const keys = Object.keys(table).filter((key) => HOST_KEYS.has(key));
  if (keys.length === 0) return { table, keys };
  return { table: Object.fromEntries(Object.entries(table).filter(([key]) => !HOST_KEYS.has(key))), keys };
}
