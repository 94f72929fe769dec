import { join, resolve } from "node:path";
import type { LoadSettings, UserInput } from "@bobbin/protocol";
import type { Config } from "../config/config.ts";
import type { Grant, SubjectRules } from "../config/subject-permissions.ts";
import { configOfSubject, grantedSandbox, missingGrant } from "../config/subject-sandbox.ts";
import { ownToolServers } from "../config/tool-servers.ts";
import type { ThreadSettings } from "../core/life/records.ts";
import { fault } from "../errors.ts";
import { type AllowedFolders, isInAllowedFolders, isWithin } from "../platform/allowed-folders.ts";
import type { Files, ReadableFiles } from "../platform/platform.ts";
import type { ToolServerSettings } from "../tool/rap/rap-settings.ts";
import { WorkspaceFactsReader } from "../workspace/workspace-facts.ts";

/**
 * What the threads of one owner may access on this machine. Requests are checked when they arrive. Later actions of a
 * thread are checked again, against the configuration at that time.
 */
export interface Reach {
  /** The configuration that threads start with. */
  readonly config: Config;
  /** The working directory of threads that name none. */
  readonly cwd: string;
  /** The files that may be read. Other files do not exist for the owner. */
  readonly files: ReadableFiles;
  readonly hasFiles: boolean;
  readonly workspaceFacts: WorkspaceFactsReader;
  grants(grant: Grant): boolean;
  /** The folders that commands can see besides programs (real paths); null if they can see everything. */
  commandFolders(): Promise<readonly string[] | null>;
  /** Whether a thread may use a tool server that it brought along. */
  mayUse(server: ToolServerSettings): boolean;
  /** Whether a thread may use an MCP server of config.toml. */
  mayUseMcp(name: string): boolean;
  /** Throws if the owner may not use the requested settings. `cwd`: the thread's current folder. */
  checkSettings(asked: Partial<ThreadSettings>, cwd: string): Promise<void>;
  checkLoadSettings(asked: LoadSettings): void;
  /** Throws if input names a file that the owner may not read. */
  checkInput(input: readonly UserInput[], cwd: string): Promise<void>;
  /** Throws if the owner may not access a path. `name`: the request's parameter with the path. */
  checkPath(name: string, path: string): Promise<void>;
  /** The folders in which files may be read and changed; null for all. */
  places(): Promise<AllowedFolders | null>;
  /** The changes to a thread's settings that a withdrawn grant makes necessary. */
  narrowed(settings: ThreadSettings): Partial<ThreadSettings>;
}

export interface ReachPorts {
  readonly home: string;
  readonly cwd: string;
  readonly files: Files;
  /** The current configuration. */
  config(): Config;
}

/** Looks up the `Reach` of an owner: that of the host's own user, or that of a subject in the configuration. */
export class ReachLookup {
  readonly #ports: ReachPorts;
  readonly #host: Reach;
  /** The reach of subjects, by their rules. Cleared when the configuration changes. */
  #subjects = new Map<SubjectRules, Reach>();
  #config: Config | undefined;

  constructor(ports: ReachPorts) {
    this.#ports = ports;
    this.#host = new HostReach(ports);
  }

  /** The reach of a thread's owner. */
  of(owner: string): Reach {
    return owner.startsWith(SUBJECT) ? this.#ofSubject(owner.slice(SUBJECT.length)) : this.#host;
  }

  #ofSubject(name: string): Reach {
    const config = this.#ports.config();
    if (config !== this.#config) this.#subjects.clear();
    this.#config = config;
    const rules = config.subjects.named.get(name) ?? config.subjects.others;
    const known = this.#subjects.get(rules);
    if (known !== undefined) return known;
    const reach = new SubjectReach(rules, config, this.#ports);
    this.#subjects.set(rules, reach);
    return reach;
  }
}

/** Prefix of an owner that is a subject. */
export const SUBJECT = "subject:";

/** The host's own user may access everything. */
class HostReach implements Reach {
  readonly #ports: ReachPorts;
  readonly files: ReadableFiles;
  readonly hasFiles = true;
  readonly workspaceFacts: WorkspaceFactsReader;

  constructor(ports: ReachPorts) {
    this.#ports = ports;
    this.files = ports.files;
    this.workspaceFacts = new WorkspaceFactsReader(ports.files, ports.home, () => ports.config().projectDocs);
  }

  get config(): Config {
    return this.#ports.config();
  }

  get cwd(): string {
    return this.#ports.cwd;
  }

  grants(): boolean {
    return true;
  }

  async commandFolders(): Promise<null> {
    return null;
  }

  mayUse(): boolean {
    return true;
  }

  mayUseMcp(): boolean {
    return true;
  }

  async checkSettings(): Promise<void> {}

  checkLoadSettings(): void {}

  async checkInput(): Promise<void> {}

  async checkPath(): Promise<void> {}

  async places(): Promise<null> {
    return null;
  }

  narrowed(): Partial<ThreadSettings> {
    return {};
  }
}

/**
 * Keys of an MCP server whose values come from environment variables of the host. A subject must not be able to read
 * these variables by starting a thread.
 */
const HOST_VARIABLES = ["env_vars", "bearer_token_env_var", "env_http_headers"];

class SubjectReach implements Reach {
  readonly #rules: SubjectRules;
  readonly #ports: ReachPorts;
  readonly config: Config;
  readonly cwd: string;
  readonly files: ReadableFiles;
  readonly workspaceFacts: WorkspaceFactsReader;
  #places: Promise<AllowedFolders> | undefined;

  constructor(rules: SubjectRules, config: Config, ports: ReachPorts) {
    this.#rules = rules;
    this.#ports = ports;
    this.config = configOfSubject(config, rules);
    // Every thread needs a folder. A subject without roots gets one that is never created.
    this.cwd = rules.roots[0] ?? join(ports.home, "nowhere");
    this.files = ports.files.within((path) => this.#isInside(path));
    this.workspaceFacts = new WorkspaceFactsReader(this.files, ports.home, () => config.projectDocs);
  }

  get hasFiles(): boolean {
    return this.#rules.roots.length > 0;
  }

  grants(grant: Grant): boolean {
    return this.#rules.allow.includes(grant);
  }

  async commandFolders(): Promise<readonly string[] | null> {
    if (this.grants("full-access")) return null;
    return (await this.#realRoots()).roots;
  }

  mayUse({ url, allowedOrigins }: ToolServerSettings): boolean {
    return [url, ...allowedOrigins].every((address) => this.#mayCall(address));
  }

  mayUseMcp(name: string): boolean {
    return this.#rules.mcpServers.includes(name);
  }

  async checkSettings({ cwd, roots, sandbox }: Partial<ThreadSettings>, now: string): Promise<void> {
    // Clients may send the thread's current folder unchanged; that is always allowed.
    if (cwd !== undefined && cwd !== now) await this.checkPath("cwd", cwd);
    for (const root of roots ?? []) if (root !== now) await this.checkPath("runtimeWorkspaceRoots", root);
    if (sandbox === undefined) return;
    const missing = missingGrant(sandbox, this.#rules);
    if (missing !== undefined) throw fault("notGranted", `the sandbox ${sandbox.type}`, missing);
    if (sandbox.type !== "workspaceWrite") return;
    for (const root of sandbox.writableRoots ?? [])
      await this.checkPath("writableRoots", resolve(cwd ?? now, root));
  }

  checkLoadSettings({ toolServers, mcpServers }: LoadSettings): void {
    for (const server of ownToolServers(toolServers)) {
      const refused = [server.url, ...server.allowedOrigins].find((address) => !this.#mayCall(address));
      if (refused !== undefined) throw fault("addressNotAllowed", `toolServers.${server.name}`, refused);
    }
    const own = Object.values(mcpServers ?? {}).some((server) => server !== false && server !== null);
    if (own && !this.grants("mcp-servers")) throw fault("notGranted", "mcpServers", "mcp-servers");
    for (const [name, server] of Object.entries(mcpServers ?? {}))
      for (const key of HOST_VARIABLES)
        if (typeof server === "object" && server !== null && key in server)
          throw fault(
            "badConfig",
            `mcp_servers.${name}.${key}: only config.toml can name variables of the host`,
          );
  }

  async checkInput(input: readonly UserInput[], cwd: string): Promise<void> {
    for (const [at, part] of input.entries()) {
      if (part.type === "localImage" || part.type === "localAudio" || part.type === "skill")
        await this.checkPath(`input[${at}].path`, resolve(cwd, part.path));
    }
  }

  async checkPath(name: string, path: string): Promise<void> {
    // An error gives the same refusal as a forbidden path, so that a subject cannot find out whether a path exists.
    const real = await this.#ports.files.realPath(path).catch(() => undefined);
    if (real === undefined || !(await this.#isInside(real))) throw fault("pathNotAllowed", name, path);
  }

  narrowed({ sandbox, permissionProfile }: ThreadSettings): Partial<ThreadSettings> {
    const choice = { sandbox, permissionProfile: permissionProfile ?? null };
    const granted = grantedSandbox(choice, this.#rules);
    return granted === choice ? {} : granted;
  }

  #mayCall(address: string): boolean {
    return this.#rules.toolServers.some((allowed) => isBelow(new URL(address), new URL(allowed)));
  }

  async #isInside(realPath: string): Promise<boolean> {
    return isInAllowedFolders(realPath, await this.places());
  }

  places(): Promise<AllowedFolders> {
    return this.#realRoots();
  }

  #realRoots(): Promise<AllowedFolders> {
    this.#places ??= this.#realPlaces();
    return this.#places;
  }

  /**
   * The roots with symlinks resolved. They are resolved once, so that the subject cannot redirect them later. A root
   * within another root is left out, because the subject could replace it by a symlink.
   */
  async #realPlaces(): Promise<AllowedFolders> {
    const { files, home } = this.#ports;
    const { roots } = this.#rules;
    const inHome = (path: string): boolean => isWithin(path, home);
    const outer = roots.filter(
      (root) =>
        !roots.some((other) => other !== root && isWithin(root, other) && inHome(root) === inHome(other)),
    );
    const real = await Promise.all(outer.map((root) => files.realPath(root).catch(() => undefined)));
    return {
      roots: real.filter((root) => root !== undefined),
      home: await files.realPath(home).catch(() => home),
    };
  }
}

/** Whether a URL equals `base`, or is below its path. */
function isBelow(address: URL, base: URL): boolean {
  if (address.origin !== base.origin) return false;
  const folder = base.pathname.replace(/\/+$/, "");
  return address.pathname === folder || address.pathname.startsWith(`${folder}/`);
}
