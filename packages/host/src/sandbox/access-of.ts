import { isAbsolute, join } from "node:path";
import type { SandboxPolicy } from "@bobbin/protocol";
import type { Files } from "../platform/platform.ts";
import { type Access, type HiddenPath, isWithin } from "./access.ts";
import type { OpenRepository } from "./git-access.ts";
import { findRepository, type GitRepository } from "./git-repository.ts";
import type { RealRoots } from "./real-roots.ts";
import type { ConfinedCommand, SandboxPorts } from "./sandbox.ts";

export type ConfiningPolicy = Extract<SandboxPolicy, { type: "readOnly" | "workspaceWrite" }>;

/** Folders of a workspace that decide what people's programs, and we, run there later. */
const PROTECTED = [".git", ".bobbin", ".codex", ".agents"];

/** What a policy means on this machine, now. */
export async function accessOf(
  ports: SandboxPorts,
  roots: RealRoots,
  command: ConfinedCommand,
  policy: ConfiningPolicy,
  open: (repository: GitRepository) => Promise<Pick<OpenRepository, "writable" | "protected"> | undefined>,
): Promise<Access> {
  const network = policy.networkAccess === true;
  const [hidden, workspace] = await Promise.all([
    hiddenPaths(ports),
    roots.of(
      policy.type === "readOnly" ? command.roots : [...command.roots, ...(policy.writableRoots ?? [])],
    ),
  ]);
  const inside = (path: string): boolean => hidden.some((one) => path.startsWith(`${one.path}/`));
  const readable = (command.readable ?? []).filter(inside);
  if (policy.type === "readOnly") {
    // A workspace inside of a hidden folder was chosen by somebody who may.
    const shown = [...readable, ...workspace.filter(inside)];
    return { writable: [], protected: [], hidden, readable: shown, network };
  }
  const { files } = ports.platform;
  const found = await findRepository(files, await files.realPath(command.program.cwd), workspace);
  const opened =
    command.gitWritable && found?.repository !== undefined ? await open(found.repository) : undefined;
  const writable = [
    ...new Set([...workspace, ...(await roots.of(temporary(ports, policy))), ...(opened?.writable ?? [])]),
  ];
  const kept = await Promise.all(
    [
      ...workspace.flatMap((root) => PROTECTED.map((name) => join(root, name))),
      ...(found === undefined ? [] : [found.dotGit]),
      ...(opened?.protected ?? []),
    ].map((path) => existing(files, path)),
  );
  const isInside = (path: string | undefined): path is string =>
    path !== undefined && !writable.includes(path) && writable.some((root) => isWithin(path, root));
  return { writable, protected: [...new Set(kept.filter(isInside))], hidden, readable, network };
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

/** Where a path really is; undefined if it does not exist, or leads nowhere. */
async function existing(
  files: Pick<Files, "exists" | "realPath">,
  path: string,
): Promise<string | undefined> {
  if (!(await files.exists(path))) return undefined;
  const real = await files.realPath(path).catch(() => path);
  return real === path || (await files.exists(real)) ? real : undefined;
}
