import { join, resolve, sep } from "node:path";
import type { LoadSettings, UserInput } from "@bobbin/protocol";
import type { Config } from "../config/config.ts";
import { configOfSubject, grantedSandbox, missingGrant } from "../config/subject-sandbox.ts";
import type { Grant, SubjectRules } from "../config/subjects.ts";
import { serversOfThread } from "../config/tool-servers.ts";
import type { ThreadSettings } from "../core/life/records.ts";
import { fault } from "../errors.ts";
import type { Files, ReadableFiles } from "../platform/platform.ts";
import { LookAround } from "../thread/surroundings.ts";
import type { ToolServerSettings } from "../tool/rap/settings.ts";

/**
 * What the threads of one owner may reach of this machine. What a request asks for is checked when it is asked for;
 * what a thread does later is confined again then, by the configuration of that time.
 */
export interface Reach {
  /** What threads start with. */
  readonly config: Config;
  /** Where threads work that name no folder. */
  readonly cwd: string;
  /** The files that may be read; others do not exist in it. */
  readonly files: ReadableFiles;
  readonly hasFiles: boolean;
  readonly around: LookAround;
  grants(grant: Grant): boolean;
  /** The folders outside of which commands see nothing but programs; null: they see everything. Real paths. */
  commandFolders(): Promise<readonly string[] | null>;
  /** Whether a thread may use a tool server that it brought along. */
  mayUse(server: ToolServerSettings): boolean;
  /** Throws if settings that a request asks for lead out of reach. `cwd`: where the thread works now. */
  checkSettings(asked: Partial<ThreadSettings>, cwd: string): Promise<void>;
  checkLoadSettings(asked: LoadSettings): void;
  /** Throws if input names a file that is out of reach. */
  checkInput(input: readonly UserInput[], cwd: string): Promise<void>;
  /** Throws if a path that a request names as `name` is out of reach. */
  checkPath(name: string, path: string): Promise<void>;
  /** What has to change in a thread's settings because it is no longer granted. */
  narrowed(settings: ThreadSettings): Partial<ThreadSettings>;
}

export interface ReachPorts {
  readonly home: string;
  readonly cwd: string;
  readonly files: Files;
  /** As it is now. */
  config(): Config;
}

/** Finds the reach of an owner. */
export class ReachLookup {
  readonly #ports: ReachPorts;
  readonly #host: Reach;
  /** By the rules that they follow, and for one configuration. */
  #subjects = new Map<SubjectRules, Reach>();
  #config: Config | undefined;

  constructor(ports: ReachPorts) {
    this.#ports = ports;
    this.#host = new HostReach(ports);
  }

  /** Of whoever owns a thread. */
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

/** How the owner of a thread begins that is a subject. */
export const SUBJECT = "subject:";

/** The host's own user reaches everything. */
class HostReach implements Reach {
  readonly #ports: ReachPorts;
  readonly files: ReadableFiles;
  readonly hasFiles = true;
  readonly around: LookAround;

  constructor(ports: ReachPorts) {
    this.#ports = ports;
    this.files = ports.files;
    this.around = new LookAround(ports.files, ports.home, () => ports.config().projectDocs);
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

  async checkSettings(): Promise<void> {}

  checkLoadSettings(): void {}

  async checkInput(): Promise<void> {}

  async checkPath(): Promise<void> {}

  narrowed(): Partial<ThreadSettings> {
    return {};
  }
}

class SubjectReach implements Reach {
  readonly #rules: SubjectRules;
  readonly #ports: ReachPorts;
  readonly config: Config;
  readonly cwd: string;
  readonly files: ReadableFiles;
  readonly around: LookAround;
  #places: Promise<Places> | undefined;

  constructor(rules: SubjectRules, config: Config, ports: ReachPorts) {
    this.#rules = rules;
    this.#ports = ports;
    this.config = configOfSubject(config, rules);
    // A thread has to be somewhere. Nothing is ever put there, and it is in nobody's roots.
    this.cwd = rules.roots[0] ?? join(ports.home, "nowhere");
    this.files = ports.files.within((path) => this.#isInside(path));
    this.around = new LookAround(this.files, ports.home, () => config.projectDocs);
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

  async checkSettings({ cwd, roots, sandbox }: Partial<ThreadSettings>, now: string): Promise<void> {
    // Clients send back the folder that they were told.
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
    for (const server of serversOfThread(toolServers)) {
      const refused = [server.url, ...server.allowedOrigins].find((address) => !this.#mayCall(address));
      if (refused !== undefined) throw fault("addressNotAllowed", `toolServers.${server.name}`, refused);
    }
    const own = Object.values(mcpServers ?? {}).some((server) => server !== false && server !== null);
    if (own && !this.grants("mcp-servers")) throw fault("notGranted", "mcpServers", "mcp-servers");
  }

  async checkInput(input: readonly UserInput[], cwd: string): Promise<void> {
    for (const [at, part] of input.entries()) {
      if (part.type === "localImage" || part.type === "localAudio" || part.type === "skill")
        await this.checkPath(`input[${at}].path`, resolve(cwd, part.path));
    }
  }

  async checkPath(name: string, path: string): Promise<void> {
    // What cannot be found out is refused in the same words: whether a path exists is not the subject's to know.
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
    const { roots, home } = await this.#realRoots();
    return roots.some(
      (root) => isWithin(realPath, root) && (!isWithin(realPath, home) || isWithin(root, home)),
    );
  }

  #realRoots(): Promise<Places> {
    this.#places ??= this.#realPlaces();
    return this.#places;
  }

  /**
   * The roots with links resolved, once: what a subject changes in its roots later does not move them. A root within
   * another one is left out, because the subject could replace it by a link that leads elsewhere.
   */
  async #realPlaces(): Promise<Places> {
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

interface Places {
  readonly roots: readonly string[];
  /** The host's home has secrets and everybody's threads: it is out of reach, unless a root is within it. */
  readonly home: string;
}

/** Whether a path is a folder, or inside of it. */
function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** Whether an address is another one, or below its path. */
function isBelow(address: URL, base: URL): boolean {
  if (address.origin !== base.origin) return false;
  const folder = base.pathname.replace(/\/+$/, "");
  return address.pathname === folder || address.pathname.startsWith(`${folder}/`);
}
