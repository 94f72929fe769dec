import type { SandboxPolicy } from "@bobbin/protocol";
import { fault } from "../errors.ts";
import type { Platform, ProgramStart } from "../platform/platform.ts";
import type { Access } from "./access.ts";
import { AccessLookup, type ConfiningPolicy } from "./access-of.ts";
import { bubblewrapped } from "./bubblewrap.ts";
import { GitAccess, type OpenRepository } from "./git-access.ts";
import type { HostRules } from "./network/hosts.ts";
import { PackageCaches } from "./package-caches.ts";
import type { PermissionProfile } from "./permission-profile.ts";
import { failureOf, findBubblewrap, findSeatbelt, remembered } from "./probe.ts";
import { seatbelted } from "./seatbelt.ts";
import { signalsProbe, withTerminalSignals } from "./terminal-signals.ts";

/** Starts commands so that they can do no more than a policy allows. */
export interface Sandbox {
  /** How to start a command confined to a policy, or why that cannot be done on this machine. */
  confine(command: ConfinedCommand): Promise<Confined>;
  /** What a command could do; null if it were not confined at all. */
  access(command: ConfinedCommand): Promise<Access | null>;
  /** Removes what hosts left in people's folders that died while a command ran. */
  sweep(): Promise<void>;
  /** When no command runs any more. */
  close(): Promise<void>;
  /** Why commands cannot be confined on this machine; null where they can. Tried once for real, and remembered. */
  problem(): Promise<SandboxProblem | null>;
}

export interface ConfinedCommand {
  readonly program: ProgramStart;
  readonly policy: SandboxPolicy;
  /** The profile of `[permissions]` that the policy comes from: it goes before the policy. */
  readonly profile?: string | null;
  /** The workspace: writable under `workspaceWrite`, with the policy's `writableRoots`. */
  readonly roots: readonly string[];
  /** The command consists of plain git commands only, so it may change the repository. */
  readonly gitWritable: boolean;
  /** The caller serves connections by host, on the channel that the program then has. */
  readonly byHost?: boolean;
  /** Somebody granted the network where the profile gives none. */
  readonly widensNetwork?: boolean;
  /** Files and folders inside of hidden ones that can be read all the same, such as a thread's saved outputs. */
  readonly readable?: readonly string[];
  /** Beside programs nothing outside of these folders is visible, whatever the policy says. Real paths. */
  readonly within?: readonly string[] | null;
}

export type Confined =
  | {
      readonly kind: "program";
      readonly program: ProgramStart;
      /** The rules for hosts of a program with a channel, which has the network by host; null for all others. */
      readonly hosts: HostRules | null;
      /**
       * To be called when the program has exited, or could not be started. Resolves with sentences for the user and the
       * model: what the command changed that it must not, and that this was undone.
       */
      readonly release: () => Promise<readonly string[]>;
    }
  | ({ readonly kind: "unavailable" } & SandboxProblem);

export interface SandboxProblem {
  readonly reason: string;
  /** What a person can do about it, in a sentence. */
  readonly advice: string;
}

export interface SandboxPorts {
  readonly platform: Pick<
    Platform,
    "spawn" | "files" | "workspace" | "liveness" | "ids" | "env" | "clock" | "machine"
  >;
  /** The home of the host, which no command sees. */
  readonly home: string;
  /** The profiles that people have written, as they are now. */
  readonly profiles?: () => ReadonlyMap<string, PermissionProfile>;
  /** The rules for hosts where all that has the network has it by host; null: it has all of it. */
  readonly networkHosts?: () => HostRules | null;
}

export function createSandbox(ports: SandboxPorts): Sandbox {
  return sandboxOf(
    ports,
    remembered(ports.platform.clock, () => findWrap(ports)),
  );
}

type Wrap = (program: ProgramStart, access: Access) => Promise<ProgramStart>;

/** How programs are confined on this machine. */
async function findWrap({ platform }: SandboxPorts): Promise<Wrap | SandboxProblem> {
  switch (platform.machine.os) {
    case "linux": {
      const found = await findBubblewrap(platform);
      if ("reason" in found) return found;
      let hasSignals: Promise<boolean> | undefined;
      return async (program, access) => {
        const wrap = (one: ProgramStart): ProgramStart => bubblewrapped(found.path, found.arch, one, access);
        if (program.tty === undefined) return wrap(program);
        hasSignals ??= failureOf(platform, signalsProbe).then((said) => said === undefined);
        return (await hasSignals) ? withTerminalSignals(program, access, wrap) : wrap(program);
      };
    }
    case "darwin": {
      const found = await findSeatbelt(platform);
      return "reason" in found ? found : async (program, access) => seatbelted(program, access);
    }
    default:
      return {
        reason: `there is no sandbox for ${platform.machine.os}`,
        advice: "Run Bobbin inside WSL, a container or a virtual machine.",
      };
  }
}

function sandboxOf(ports: SandboxPorts, find: () => Promise<Wrap | SandboxProblem>): Sandbox {
  const lookup = new AccessLookup(ports);
  const caches = new PackageCaches(ports);
  const git = new GitAccess(ports);
  return {
    async confine(command) {
      const { program } = command;
      const policy = policyOf(command);
      const profile = profileOf(ports, command);
      if (!isConfining(policy)) return { kind: "program", program, hosts: null, release: async () => [] };
      const wrap = await find();
      if (typeof wrap !== "function") return { kind: "unavailable", ...wrap };
      // First: it is inside of the home, which has to be there to be hidden.
      const hasCaches = policy.type !== "readOnly" && command.within == null;
      const folder = hasCaches ? await caches.folderOf(command.roots) : undefined;
      let opened: OpenRepository | undefined;
      const release = async (): Promise<readonly string[]> => (await opened?.close()) ?? [];
      try {
        const access = await lookup.of(command, policy, profile, async (repository) => {
          // One that cannot be protected, because it belongs to somebody else, stays read-only.
          opened = await git.open(repository).catch(() => undefined);
          return opened;
        });
        const cached = folder === undefined ? { program, access } : caches.redirect(folder, program, access);
        const wrapped = await wrap(cached.program, cached.access);
        return { kind: "program", program: wrapped, hosts: access.hosts ?? null, release };
      } catch (cause) {
        await release();
        throw cause;
      }
    },
    async access(command) {
      const policy = policyOf(command);
      if (!isConfining(policy)) return null;
      return lookup.of(command, policy, profileOf(ports, command), (repository) => git.explain(repository));
    },
    sweep: () => git.sweep(),
    close: () => git.close(),
    async problem() {
      const found = await find();
      return typeof found === "function" ? null : found;
    },
  };
}

/** Undefined for built-in profiles, which are policies. Throws for one that is gone: nobody knows what it allowed. */
function profileOf({ profiles }: SandboxPorts, { profile }: ConfinedCommand): PermissionProfile | undefined {
  if (profile == null || profile.startsWith(":")) return undefined;
  const found = profiles?.().get(profile);
  if (found === undefined) throw fault("badConfig", `there is no [permissions.${profile}]`);
  return found;
}

/** No policy lets a command out of the folders that it has to stay in. */
function policyOf({ policy, within }: ConfinedCommand): SandboxPolicy {
  return within == null || isConfining(policy) ? policy : { type: "readOnly", networkAccess: false };
}

function isConfining(policy: SandboxPolicy): policy is ConfiningPolicy {
  return policy.type === "readOnly" || policy.type === "workspaceWrite";
}
