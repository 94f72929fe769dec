import type { SandboxPolicy } from "@bobbin/protocol";
import { fault } from "../errors.ts";
import type { Platform, ProgramStart } from "../platform/platform.ts";
import type { Access } from "./access.ts";
import { AccessLookup, type ConfiningPolicy } from "./access-lookup.ts";
import { withBubblewrap } from "./bubblewrap.ts";
import { GitAccess, type OpenRepository } from "./git-command-access.ts";
import { type GitGuard, GitGuards } from "./git-guard.ts";
import { withoutAutomaticUpstream } from "./git-upstream.ts";
import { holdMounts } from "./held-mounts.ts";
import { IndexLinkReader } from "./index-gitlinks.ts";
import { withNodeVisible } from "./network/bridge-launch.ts";
import type { HostRules } from "./network/host-rules.ts";
import { PackageCaches } from "./package-caches.ts";
import type { PermissionProfile } from "./permission-profile.ts";
import type { Placeholder } from "./placeholder-files.ts";
import { cachedProbe, failureOf, findBubblewrap, findSeatbelt } from "./sandbox-probe.ts";
import { withSeatbelt } from "./seatbelt.ts";
import { signalsProbe, withTerminalSignals } from "./terminal-signals.ts";

/** Starts commands so that they can do no more than a policy allows. */
export interface Sandbox {
  /** Wraps a command so that it runs in the sandbox, or explains why that is impossible on this machine. */
  confine(command: ConfinedCommand): Promise<Confined>;
  /** What a command could access; null if it would run without a sandbox. */
  access(command: ConfinedCommand): Promise<Access | null>;
  /** Removes files in users' folders that hosts left because they died while a command ran. */
  sweep(): Promise<void>;
  /** To be called when no command runs any more. */
  close(): Promise<void>;
  /** Why commands cannot be sandboxed on this machine; null if they can. Probed by a real run, and cached. */
  problem(): Promise<SandboxProblem | null>;
}

/** A command to run in the sandbox, and what it may access. */
export interface ConfinedCommand {
  readonly program: ProgramStart;
  readonly policy: SandboxPolicy;
  /** The profile of `[permissions]`; takes precedence over `policy`. */
  readonly profile?: string | null;
  /** The workspace folders: writable under `workspaceWrite`, together with the policy's `writableRoots`. */
  readonly roots: readonly string[];
  /** The folder of the thread, which determines the project that it belongs to. It may be inside a root. */
  readonly project?: string;
  /** The command consists of plain git commands only, so it may change the repository. */
  readonly gitWritable: boolean;
  /** Whether the caller serves connections by network host. The program then has a channel for them. */
  readonly byHost?: boolean;
  /** The user granted network access that the profile does not give. */
  readonly widensNetwork?: boolean;
  /** Files and folders inside hidden ones that stay readable, such as a thread's saved outputs. */
  readonly readable?: readonly string[];
  /** If set, only these folders and system programs are visible, whatever the policy says. Real paths. */
  readonly within?: readonly string[] | null;
}

/** A wrapped command, or the reason why it cannot be sandboxed. */
export type Confined =
  | {
      readonly kind: "program";
      readonly program: ProgramStart;
      /** The rules for network hosts, if the program reaches them through its channel; null otherwise. */
      readonly hosts: HostRules | null;
      /**
       * Must be called when the program has exited or could not be started. Resolves with sentences, for the user and
       * the model, about protected files that have changed, and about settings that git could not write.
       */
      readonly release: () => Promise<readonly string[]>;
    }
  | ({ readonly kind: "unavailable" } & SandboxProblem);

/** Why commands cannot be sandboxed on this machine. */
export interface SandboxProblem {
  readonly reason: string;
  /** What the user can do about the problem, as a sentence. */
  readonly advice: string;
}

export interface SandboxPorts {
  readonly platform: Pick<
    Platform,
    "spawn" | "files" | "workspace" | "liveness" | "ids" | "env" | "clock" | "machine"
  >;
  /** The host's home, which no command can see. */
  readonly home: string;
  /** The configured profiles, as they are now. */
  readonly profiles?: () => ReadonlyMap<string, PermissionProfile>;
  /** The rules for network hosts, if every network access is restricted by them; null if it is not. */
  readonly networkHosts?: () => HostRules | null;
}

export function createSandbox(ports: SandboxPorts): Sandbox {
  return sandboxOf(
    ports,
    cachedProbe(ports.platform.clock, () => findWrap(ports)),
  );
}

/** `close`: to be called when the program has ended or was not started. */
type Wrap = (
  program: ProgramStart,
  access: Access,
) => Promise<{ readonly program: ProgramStart; readonly close?: () => Promise<void> }>;

/** Finds out how programs are sandboxed on this machine. */
async function findWrap({ platform }: SandboxPorts): Promise<Wrap | SandboxProblem> {
  switch (platform.machine.os) {
    case "linux": {
      const found = await findBubblewrap(platform);
      if ("reason" in found) return found;
      let hasSignals: Promise<boolean> | undefined;
      return async (program, wanted) => {
        const access = wanted.network === "byHost" ? withNodeVisible(wanted) : wanted;
        const { mounts, close } = await holdMounts(platform, access);
        const wrap = (one: ProgramStart): ProgramStart =>
          withBubblewrap(found.path, found.arch, one, access, mounts);
        if (program.tty === undefined) return { program: wrap(program), close };
        hasSignals ??= failureOf(platform, signalsProbe)
          .then((failure) => failure === undefined)
          .catch(async (cause) => {
            hasSignals = undefined;
            await close();
            throw cause;
          });
        return {
          program: (await hasSignals) ? withTerminalSignals(program, access, wrap) : wrap(program),
          close,
        };
      };
    }
    case "darwin": {
      const found = await findSeatbelt(platform);
      return "reason" in found
        ? found
        : async (program, access) => ({ program: withSeatbelt(program, access) });
    }
    default:
      return {
        reason: `there is no sandbox for ${platform.machine.os}`,
        advice: "Run Bobbin inside WSL, a container or a virtual machine.",
      };
  }
}

function sandboxOf(ports: SandboxPorts, find: () => Promise<Wrap | SandboxProblem>): Sandbox {
  const { files, machine } = ports.platform;
  const guards = new GitGuards(files, new IndexLinkReader(ports.platform), machine.userHome);
  const lookup = new AccessLookup(ports, guards);
  const caches = new PackageCaches(ports);
  const git = new GitAccess(ports, guards);
  return {
    async confine(command) {
      const { program } = command;
      const policy = policyOf(command);
      const profile = profileOf(ports, command);
      if (!isSandboxed(policy)) return { kind: "program", program, hosts: null, release: async () => [] };
      const wrap = await find();
      if (typeof wrap !== "function") return { kind: "unavailable", ...wrap };
      // The cache folder is created first: it is inside the home, which must exist in order to be hidden.
      const hasCaches = policy.type !== "readOnly" && command.within == null;
      const folder = hasCaches ? await caches.folderOf(command.roots) : undefined;
      let opened: OpenRepository | undefined;
      let closeMounts: (() => Promise<void>) | undefined;
      let masks: readonly Placeholder[] = [];
      let guarded: GitGuard | undefined;
      const release = async (): Promise<readonly string[]> => {
        await closeMounts?.();
        await git.unmask(masks);
        return [
          ...((await opened?.close()) ?? []),
          ...(guarded === undefined ? [] : await guards.changes(guarded)),
        ];
      };
      try {
        const access = await lookup.of(command, policy, profile, {
          async open(repository) {
            // A repository that cannot be protected, for example because another user owns it, is read-only.
            opened = await git.open(repository).catch(() => undefined);
            return opened;
          },
          async mask(guard) {
            guarded = guard;
            masks = await git.mask(guard.missing);
          },
        });
        const started = opened === undefined ? program : withoutAutomaticUpstream(program);
        const cached =
          folder === undefined ? { program: started, access } : caches.redirect(folder, started, access);
        const wrapped = await wrap(cached.program, cached.access);
        closeMounts = wrapped.close;
        return { kind: "program", program: wrapped.program, hosts: access.hosts ?? null, release };
      } catch (cause) {
        await release();
        throw cause;
      }
    },
    async access(command) {
      const policy = policyOf(command);
      if (!isSandboxed(policy)) return null;
      return lookup.of(command, policy, profileOf(ports, command), {
        open: (repository) => git.explain(repository),
        mask: async () => {},
      });
    },
    sweep: () => git.sweep(),
    close: () => git.close(),
    async problem() {
      const found = await find();
      return typeof found === "function" ? null : found;
    },
  };
}

/**
 * The user's own profile of a command; undefined for built-in profiles, which are policies. Throws if the profile no
 * longer exists, because it is unknown what it allowed.
 */
function profileOf({ profiles }: SandboxPorts, { profile }: ConfinedCommand): PermissionProfile | undefined {
  if (profile == null || profile.startsWith(":")) return undefined;
  const found = profiles?.().get(profile);
  if (found === undefined) throw fault("badConfig", `there is no [permissions.${profile}]`);
  return found;
}

/** The effective policy. A command that is limited to certain folders stays limited under any policy. */
function policyOf({ policy, within }: ConfinedCommand): SandboxPolicy {
  return within == null || isSandboxed(policy) ? policy : { type: "readOnly", networkAccess: false };
}

function isSandboxed(policy: SandboxPolicy): policy is ConfiningPolicy {
  return policy.type === "readOnly" || policy.type === "workspaceWrite";
}
