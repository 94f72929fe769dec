import { isAbsolute, join } from "node:path";
import type { SandboxPolicy } from "@bobbin/protocol";
import type { Files } from "../platform/platform.ts";
import { type Access, type HiddenPath, isWithin, type NetworkAccess } from "./access.ts";
import { type ProfilePaths, pathsOfProfile } from "./access-of-profile.ts";
import type { OpenRepository } from "./git-access.ts";
import { findRepository, type GitRepository } from "./git-repository.ts";
import { PROGRAMS } from "./minimal-files.ts";
import type { HostRules } from "./network/hosts.ts";
import { PatternFiles } from "./pattern-files.ts";
import type { PermissionProfile } from "./permission-profile.ts";
import { RealRoots } from "./real-roots.ts";
import type { ConfinedCommand, SandboxPorts } from "./sandbox.ts";

export type ConfiningPolicy = Extract<SandboxPolicy, { type: "readOnly" | "workspaceWrite" }>;

/** Folders of a workspace that decide what people's programs, and we, run there later. */
const PROTECTED = [".git", ".bobbin", ".codex", ".agents"];

type OpenGit = (
  repository: GitRepository,
) => Promise<Pick<OpenRepository, "writable" | "protected"> | undefined>;

/** What a command may do on this machine, now: by its policy or by its profile. */
export class AccessLookup {
  readonly #ports: SandboxPorts;
  readonly #roots: RealRoots;
  readonly #patterns: PatternFiles;

  constructor(ports: SandboxPorts) {
    const { files, clock } = ports.platform;
    this.#ports = ports;
    this.#roots = new RealRoots(files);
    this.#patterns = new PatternFiles(files, clock);
  }

  async of(
    command: ConfinedCommand,
    policy: ConfiningPolicy,
    profile: PermissionProfile | undefined,
    open: OpenGit,
  ): Promise<Access> {
    if (command.within != null)
      return accessWithin(
        command.within,
        policy,
        command,
        await hiddenPaths(this.#ports),
        networkOf(this.#ports, command, policy, undefined),
      );
    const { files } = this.#ports.platform;
    const paths =
      profile === undefined
        ? pathsOfPolicy(this.#ports, command, policy)
        : await pathsOfProfile(this.#ports, this.#patterns, command, profile);
    const [own, workspace, writable] = await Promise.all([
      hiddenPaths(this.#ports),
      this.#roots.of(paths.workspace),
      this.#roots.of(paths.write),
    ]);
    const denied = await Promise.all(paths.deny.map((path) => hiddenPath(files, path)));
    const hidden = [...own, ...denied.filter((one) => one !== undefined)];
    const isHidden = (path: string): boolean => hidden.some((one) => path.startsWith(`${one.path}/`));
    const read = await Promise.all(paths.read.map((path) => existing(files, path)));
    const shown = read.filter((path) => path !== undefined);
    const access = {
      hidden,
      // A workspace inside of a hidden folder was chosen by somebody who may.
      readable: [...(command.readable ?? []), ...workspace, ...shown].filter(
        (path) => isHidden(path) && !writable.includes(path),
      ),
      // As they are named: programs look for /bin, also where that is a link.
      readOnly: paths.readsEverything ? null : paths.read,
      ...networkOf(this.#ports, command, policy, profile),
    };
    if (writable.length === 0) return { ...access, writable, protected: [] };
    const inWorkspace = workspace.filter((root) => writable.some((one) => isWithin(root, one)));
    const found = await findRepository(files, await files.realPath(command.program.cwd), inWorkspace);
    const opened =
      command.gitWritable && found?.repository !== undefined ? await open(found.repository) : undefined;
    const all = [...new Set([...writable, ...(opened?.writable ?? [])])];
    const kept = await Promise.all(
      [
        ...workspace.flatMap((root) => PROTECTED.map((name) => join(root, name))),
        ...(found === undefined ? [] : [found.dotGit]),
        ...(opened?.protected ?? []),
        ...shown,
      ].map((path) => existing(files, path)),
    );
    const isInside = (path: string | undefined): path is string =>
      path !== undefined && !all.includes(path) && all.some((root) => isWithin(path, root));
    return { ...access, writable: all, protected: [...new Set(kept.filter(isInside))] };
  }
}

/**
 * For somebody who is not to see what others have on this machine. Whole folders only, because a command that runs in one of
 * them could replace a part of it by a link just before that is mounted; so nothing inside of them is protected.
 */
function accessWithin(
  folders: readonly string[],
  policy: ConfiningPolicy,
  { readable }: ConfinedCommand,
  hidden: readonly HiddenPath[],
  network: Pick<Access, "network" | "hosts">,
): Access {
  const mayWrite = policy.type === "workspaceWrite";
  return {
    hidden,
    readable: readable ?? [],
    readOnly: mayWrite ? PROGRAMS : [...PROGRAMS, ...folders],
    writable: mayWrite ? folders : [],
    protected: [],
    ...network,
    ownTemporary: true,
  };
}

/**
 * What a command may reach of the network; by host with the rules for hosts. Who serves no connections by host gets none
 * of them.
 */
function networkOf(
  { networkHosts }: SandboxPorts,
  { byHost = false, widensNetwork = false }: ConfinedCommand,
  policy: ConfiningPolicy,
  profile: PermissionProfile | undefined,
): { readonly network: NetworkAccess; readonly hosts: HostRules | null } {
  const configured = profile?.network ?? policy.networkAccess === true;
  const wanted = configured === false ? widensNetwork : configured;
  const hosts = wanted === true ? (networkHosts?.() ?? null) : wanted || null;
  if (hosts !== null) return { network: byHost ? "byHost" : "none", hosts: byHost ? hosts : null };
  return { network: wanted === true ? "all" : "none", hosts: null };
}

/** The folders that a policy names, as a profile would. */
function pathsOfPolicy(
  ports: SandboxPorts,
  { roots }: ConfinedCommand,
  policy: ConfiningPolicy,
): ProfilePaths {
  if (policy.type === "readOnly")
    return { readsEverything: true, read: [], write: [], deny: [], workspace: roots };
  const workspace = [...roots, ...(policy.writableRoots ?? [])];
  return {
    readsEverything: true,
    read: [],
    write: [...workspace, ...temporary(ports, policy)],
    deny: [],
    workspace,
  };
}

/** Folders for temporary files. The host's own TMPDIR counts: a command's could be any folder. */
function temporary(
  { platform }: SandboxPorts,
  policy: Extract<ConfiningPolicy, { type: "workspaceWrite" }>,
): readonly string[] {
  const named = platform.env["TMPDIR"];
  return [
    ...(policy.excludeSlashTmp ? [] : ["/tmp"]),
    ...(policy.excludeTmpdirEnvVar || named === undefined || !isAbsolute(named) ? [] : [named]),
  ];
}

/** What lets a command act as its user in other ways: our home, and sockets of programs that run commands. */
async function hiddenPaths({ platform, home }: SandboxPorts): Promise<readonly HiddenPath[]> {
  const { files, env } = platform;
  const runtime = env["XDG_RUNTIME_DIR"];
  const candidates: readonly HiddenPath[] = [
    { path: home, kind: "folder" },
    { path: "/run/user", kind: "folder" },
    ...(runtime === undefined || !isAbsolute(runtime) ? [] : [{ path: runtime, kind: "folder" } as const]),
    { path: join(env["TMUX_TMPDIR"] || "/tmp", `tmux-${platform.machine.uid ?? 0}`), kind: "folder" },
    { path: "/run/docker.sock", kind: "file" },
    { path: "/run/podman", kind: "folder" },
    { path: "/run/containerd/containerd.sock", kind: "file" },
  ];
  const found = await Promise.all(
    candidates.map(async ({ path, kind }) => ({ path: await existing(files, path), kind })),
  );
  return found.filter((one): one is HiddenPath => one.path !== undefined);
}

/** Undefined for what does not exist: there is nothing to hide, and nowhere to hide it. */
async function hiddenPath(
  files: Pick<Files, "exists" | "realPath">,
  path: string,
): Promise<HiddenPath | undefined> {
  const real = await existing(files, path);
  if (real === undefined) return undefined;
  return { path: real, kind: (await files.exists(`${real}/.`)) ? "folder" : "file" };
}

/** Where a path really is; undefined if it does not exist, or leads nowhere. */
async function existing(
  files: Pick<Files, "exists" | "realPath">,
  path: string,
): Promise<string | undefined> {
  if (!(await files.exists(path))) return undefined;
  const real = await files.realPath(path).catch(() => path);
  return real === path || (await files.exists(real)) ? real : undefined;
}
