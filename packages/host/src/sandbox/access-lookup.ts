import { isAbsolute, join } from "node:path";
import type { SandboxPolicy } from "@bobbin/protocol";
import { PROTECTED_NAMES } from "../core/protected-names.ts";
import { type DotGit, findDotGit, type GitRepository } from "../platform/git-repository.ts";
import { upwards } from "../platform/parent-folders.ts";
import type { Files } from "../platform/platform.ts";
import { type Access, type HiddenPath, isWithin, type NetworkAccess } from "./access.ts";
import type { OpenRepository } from "./git-command-access.ts";
import type { GitGuard, GitGuards } from "./git-guard.ts";
import type { HostRules } from "./network/host-rules.ts";
import type { PermissionProfile } from "./permission-profile.ts";
import { type ProfilePaths, pathsOfProfile } from "./permission-profile-paths.ts";
import type { ConfinedCommand, SandboxPorts } from "./sandbox.ts";
import { PUBLIC_SYSTEM_PATHS } from "./system-paths.ts";
import { WritableRoots } from "./writable-roots.ts";

/** The policies under which commands are sandboxed. */
export type ConfiningPolicy = Extract<SandboxPolicy, { type: "readOnly" | "workspaceWrite" }>;

/** What a lookup does for a command: to be undone when the command has ended. */
interface LookupEffects {
  /** Opens the repository of a git command. */
  open(repository: GitRepository): Promise<Pick<OpenRepository, "writable" | "protected"> | undefined>;
  /** Puts placeholders where commands must create nothing, and notes what is to be checked afterwards. */
  mask(guard: GitGuard): Promise<void>;
}

/** Determines what a command may access on this machine now, from its policy or its permission profile. */
export class AccessLookup {
  readonly #ports: SandboxPorts;
  readonly #guards: GitGuards;
  readonly #roots: WritableRoots;

  constructor(ports: SandboxPorts, guards: GitGuards) {
    this.#ports = ports;
    this.#guards = guards;
    this.#roots = new WritableRoots(ports.platform.files);
  }

  async of(
    command: ConfinedCommand,
    policy: ConfiningPolicy,
    profile: PermissionProfile | undefined,
    { open, mask }: LookupEffects,
  ): Promise<Access> {
    if (command.within != null)
      return accessWithin(
        command.within,
        policy,
        command,
        await hostHiddenPaths(this.#ports),
        networkOf(this.#ports, command, policy, undefined),
      );
    const { files } = this.#ports.platform;
    const paths =
      profile === undefined
        ? pathsOfPolicy(this.#ports, command, policy)
        : await pathsOfProfile(this.#ports, command, profile);
    const [ownHidden, workspace, writable] = await Promise.all([
      hostHiddenPaths(this.#ports),
      this.#roots.of(paths.workspace),
      this.#roots.of(paths.write),
    ]);
    const denied = await Promise.all(paths.deny.map((path) => hiddenEntry(files, path)));
    const hidden = [...ownHidden, ...denied.filter((one) => one !== undefined)];
    const isHidden = (path: string): boolean => hidden.some((one) => path.startsWith(`${one.path}/`));
    const read = await Promise.all(paths.read.map((path) => realPathIfExists(files, path)));
    const readablePaths = read.filter((path) => path !== undefined);
    const access = {
      hidden,
      // A workspace stays readable even inside a hidden folder: nobody can choose a workspace that they may not read.
      readable: [...(command.readable ?? []), ...workspace, ...readablePaths].filter(
        (path) => isHidden(path) && !writable.includes(path),
      ),
      // Symlinks are not resolved, because programs look for /bin even if it is a symlink.
      readOnly: paths.readsEverything ? null : paths.read,
      ...networkOf(this.#ports, command, policy, profile),
    };
    if (writable.length === 0) return { ...access, writable, protected: [] };
    const inWorkspace = workspace.filter((root) => writable.some((one) => isWithin(root, one)));
    const project = command.project === undefined ? undefined : await files.realPath(command.project);
    const isProjectInside = project !== undefined && inWorkspace.some((root) => isWithin(project, root));
    const guarded = new Set([...inWorkspace, ...(isProjectInside ? [project] : [])]);
    const guard = await this.#guards.of([...guarded], writable);
    const found = await this.#dotGitOf(command, inWorkspace);
    const repository = command.gitWritable ? await this.#openable(found, inWorkspace, writable) : undefined;
    const opened = repository && (await open(repository));
    const all = [...new Set([...writable, ...(opened?.writable ?? [])])];
    await mask(guard);
    const existing = await Promise.all(
      [
        ...workspace.flatMap((root) => PROTECTED_NAMES.map((name) => join(root, name))),
        ...(found === undefined ? [] : [join(found.worktree, ".git")]),
        // The folder of a linked worktree is in the folder of its repository.
        ...guard.paths.filter((path) => opened === undefined || path !== repository?.gitDir),
        ...(opened?.protected ?? []),
        ...readablePaths,
      ].map((path) => realPathIfExists(files, path)),
    );
    const protectedPaths = [...existing, ...guard.missing.map(({ path }) => path)];
    const isInside = (path: string | undefined): path is string =>
      path !== undefined && !all.includes(path) && all.some((root) => isWithin(path, root));
    return { ...access, writable: all, protected: [...new Set(protectedPaths.filter(isInside))] };
  }

  /** The innermost `.git` above a command's folder, within the workspace. */
  async #dotGitOf({ program }: ConfinedCommand, roots: readonly string[]): Promise<DotGit | undefined> {
    const { files } = this.#ports.platform;
    const cwd = await files.realPath(program.cwd);
    const folders = upwards(cwd).filter((folder) => roots.some((root) => isWithin(folder, root)));
    return findDotGit(files, cwd, folders);
  }

  /**
   * The repository that a git command may change. One outside of the writable folders is changed only for a root of the
   * workspace, whose `.git` no command can write: any other `.git` may be a command's own.
   */
  async #openable(
    found: DotGit | undefined,
    roots: readonly string[],
    writable: readonly string[],
  ): Promise<GitRepository | undefined> {
    if (found?.repository === undefined) return undefined;
    const { worktree, commonDir } = found.repository;
    const isOwn = roots.includes(worktree) || writable.some((folder) => isWithin(commonDir, folder));
    const dotGit = join(worktree, ".git");
    // A symlink is not trusted, because anyone who can write to the folder can replace it.
    return isOwn && (await this.#ports.platform.files.realPath(dotGit)) === dotGit
      ? found.repository
      : undefined;
  }
}

/**
 * The access of a command that may see only certain folders, for example a command of a remote subject. Only whole
 * folders are mounted. Nothing inside them is protected: they are the subject's, who runs git there in the sandbox only.
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
    readable: [...(readable ?? []), ...(mayWrite ? [] : folders)],
    readOnly: PUBLIC_SYSTEM_PATHS,
    writable: mayWrite ? folders : [],
    protected: [],
    ...network,
    ownTemporary: true,
  };
}

/**
 * The network access of a command, and with `byHost` the rules for network hosts. If these are restricted and the
 * caller cannot serve connections by network host, there is no network.
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

/** The paths of a sandbox policy, in the form of a profile's. */
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
    write: [...workspace, ...temporaryFolders(ports, policy)],
    deny: [],
    workspace,
  };
}

/** Writable temporary folders. The host's TMPDIR is used, because the command's own could name any folder. */
function temporaryFolders(
  { platform }: SandboxPorts,
  policy: Extract<ConfiningPolicy, { type: "workspaceWrite" }>,
): readonly string[] {
  const named = platform.env["TMPDIR"];
  return [
    ...(policy.excludeSlashTmp ? [] : ["/tmp"]),
    ...(policy.excludeTmpdirEnvVar || named === undefined || !isAbsolute(named) ? [] : [named]),
  ];
}

/**
 * Paths through which a command could act as its user outside the sandbox: the host's home, and sockets of programs
 * that run commands.
 */
async function hostHiddenPaths({ platform, home }: SandboxPorts): Promise<readonly HiddenPath[]> {
  const { files, env } = platform;
  const runtime = env["XDG_RUNTIME_DIR"];
  const candidates: readonly HiddenPath[] = [
    { path: home, kind: "folder" },
    { path: "/run/user", kind: "folder" },
    ...(runtime === undefined || !isAbsolute(runtime) ? [] : [{ path: runtime, kind: "folder" } as const]),
    { path: "/run/docker.sock", kind: "file" },
    { path: "/run/podman", kind: "folder" },
    { path: "/run/containerd/containerd.sock", kind: "file" },
  ];
  const found = await Promise.all([
    ...candidates.map(async ({ path, kind }) => ({ path: await realPathIfExists(files, path), kind })),
    tmuxFolder(files, env["TMUX_TMPDIR"] || "/tmp", platform.machine.uid ?? 0),
  ]);
  return found.filter((one): one is HiddenPath => one.path !== undefined);
}

/** The folder with tmux's sockets. Anybody can put a link in its place, which would hide whatever it leads to. */
async function tmuxFolder(
  files: Pick<Files, "exists" | "realPath">,
  parent: string,
  uid: number,
): Promise<{ readonly path: string | undefined; readonly kind: "folder" }> {
  const path = join((await realPathIfExists(files, parent)) ?? parent, `tmux-${uid}`);
  const isFolder = (await realPathIfExists(files, path)) === path && (await files.exists(`${path}/.`));
  return { path: isFolder ? path : undefined, kind: "folder" };
}

/** The entry that hides a path; undefined if the path does not exist and need not be hidden. */
async function hiddenEntry(
  files: Pick<Files, "exists" | "realPath">,
  path: string,
): Promise<HiddenPath | undefined> {
  const real = await realPathIfExists(files, path);
  if (real === undefined) return undefined;
  return { path: real, kind: (await files.exists(`${real}/.`)) ? "folder" : "file" };
}

/** The real path of an existing path; undefined if it does not exist or is a broken symlink. */
async function realPathIfExists(
  files: Pick<Files, "exists" | "realPath">,
  path: string,
): Promise<string | undefined> {
  if (!(await files.exists(path))) return undefined;
  const real = await files.realPath(path).catch(() => path);
  return real === path || (await files.exists(real)) ? real : undefined;
}
