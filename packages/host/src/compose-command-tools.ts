import { join } from "node:path";
import type { SandboxPolicy } from "@bobbin/protocol";
import type { Config } from "./config/config.ts";
import { hostSecretNames } from "./config/host-secret-names.ts";
import type { Command } from "./core/commands.ts";
import type { ThreadState } from "./core/state.ts";
import { Fault } from "./errors.ts";
import type { Supervisor } from "./observe/supervise.ts";
import type { Platform } from "./platform/platform.ts";
import { LoginEnvironments } from "./process/login-shell-environment.ts";
import type { ProcessManager } from "./process/process-manager.ts";
import { confineProfile } from "./sandbox/confine-login-shell.ts";
import { isListed } from "./sandbox/network/host-rules.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import type { VisibleFiles } from "./sandbox/visible-files.ts";
import type { Reach } from "./server/owner-access.ts";
import type { OutputFileStore } from "./store/output-file-store.ts";
import type { Registry } from "./thread/registry.ts";
import {
  isHostAllowed,
  type NetworkRule,
  RULE_PROTOCOLS,
  type Rules,
} from "./tool/consent/command-and-network-rules.ts";
import type { Consent, Intent } from "./tool/consent/consent.ts";
import type { ParsedCommand } from "./tool/consent/parse-command.ts";
import { widened } from "./tool/consent/permissions.ts";
import type { RulesStore } from "./tool/consent/rules-store.ts";
import { commandShell, syntaxOf } from "./tool/consent/shell-syntax.ts";
import { ThreadProjectRules } from "./tool/consent/thread-project-rules.ts";
import { WithheldRuleWarnings } from "./tool/consent/withheld-rule-warnings.ts";
import { ExecSource } from "./tool/exec/exec-source.ts";
import type { NetworkApprovalPorts, Submitted } from "./tool/exec/network-approvals.ts";
import { patchPorts } from "./tool/own/own-tools.ts";
import { hasOwnProfile, reachable, wantedPermissions } from "./tool/own/permission-arguments.ts";

export interface ComposeExecPorts {
  readonly home: string;
  readonly platform: Platform;
  readonly processes: ProcessManager;
  readonly sandbox: Sandbox;
  readonly supervisor: Supervisor;
  readonly rules: RulesStore;
  /** How a model's command with network access could connect to a listener of this host; null if it cannot. */
  readonly listenerProblem: string | null;
  config(): Config;
  /** The configuration with which a thread was loaded. */
  configOf(threadId: string): Config;
  /** Whether a thread's model may run commands at all. */
  hasCommands(threadId: string): boolean;
  /** The files that a thread's model may read. */
  visibleTo(thread: ThreadState): VisibleFiles;
  /** Sends a warning to the subscribers of a thread. Returns false if there are none. */
  warn(threadId: string, message: string): boolean;
  /** Submits a command to a loaded thread. Resolves with undefined if the thread is closed or closing. */
  submit: NetworkApprovalPorts["submit"];
  /** The thread with the grants that a helper inherits from its parent thread. */
  inherited(thread: ThreadState): Promise<ThreadState>;
  /** The folders, tools and rights that the threads of an owner may use. */
  reachOf(owner: string): Reach;
  readonly outputs: OutputFileStore;
}

const CTRL_C = "\u0003";

/** Creates the tool source that runs commands. The shell parser is loaded with the first command. */
export function composeExec(ports: ComposeExecPorts): ExecSource {
  const { home, platform, processes, sandbox } = ports;
  const shell = platform.env["SHELL"] || "/bin/sh";
  const modelShell = commandShell(shell);
  const consentOf = () => import("./tool/consent/decide-consent.ts");
  // A command is parsed for its consent, its actions, its snapshot and its sandbox, one after the other.
  let lastParsed: { readonly key: string; readonly command: ParsedCommand } | undefined;
  const parsed = async (text: string, named: string | null): Promise<ParsedCommand> => {
    const { parseCommand } = await import("./tool/consent/parse-command.ts");
    const syntax = named === null || named === modelShell ? "bash" : syntaxOf(named);
    const key = `${syntax} ${text}`;
    if (lastParsed?.key !== key) lastParsed = { key, command: parseCommand(text, syntax) };
    return lastParsed.command;
  };

  const ruleWarnings = new WithheldRuleWarnings(ports.warn);
  const projects = new ThreadProjectRules((cwd) => ports.rules.readProject(cwd));
  const outputFolder = (threadId: string): readonly string[] => {
    const folder = ports.outputs.folder(threadId);
    return folder === null ? [] : [folder];
  };

  const isForeign = ({ facts }: ThreadState): boolean => !ports.reachOf(facts.owner).grants("full-access");

  /** Whether network access is decided per host, by the thread's profile or by the configured proxy. */
  const hasNetworkByHost = ({ settings }: ThreadState): boolean => {
    const { networkProxy, permissionProfiles } = ports.config();
    if (networkProxy !== null) return true;
    return typeof permissionProfiles.get(settings.permissionProfile ?? "")?.network === "object";
  };

  /** The rules for a thread, including recent decisions about hosts that may not be in the rules file yet. */
  const rulesOf = async (
    thread: ThreadState,
  ): Promise<{ readonly rules: Rules; readonly problem: string | null }> => {
    const { networkRules } = thread;
    // For a subject without full access, project rules are not read, because they may be in a folder above the
    // subject's own.
    const { rules, project } = await ports.rules.load(
      isForeign(thread) ? undefined : await projects.of(thread),
    );
    if (project !== null) ruleWarnings.warn(thread.facts.id, project);
    const problem = project?.problem ?? null;
    if (networkRules.length === 0) return { rules, problem };
    const due = networkRules.map(
      ({ host, protocol, decision }): NetworkRule => ({
        host,
        protocol: RULE_PROTOCOLS[protocol],
        decision: decision === "deny" ? "forbidden" : "allow",
        justification: null,
        origin: { file: "", line: 0 },
      }),
    );
    return { rules: { ...rules, network: [...rules.network, ...due] }, problem };
  };

  const decide = async (thread: ThreadState, what: Intent): Promise<Consent> => {
    const { decideConsent } = await consentOf();
    const { approvalPolicy: policy } = thread.settings;
    const { sandbox: policyOfSandbox, roots } = reachable(thread);
    const problem = await sandbox.problem();
    const confined = isForeign(thread);
    const { rules, problem: rulesProblem } = await rulesOf(thread);
    return decideConsent({
      what,
      policy,
      sandbox: hasNetworkByHost(thread) ? withoutNetwork(policyOfSandbox) : policyOfSandbox,
      roots: await Promise.all(roots.map((root) => platform.files.realPath(root))),
      sandboxProblem: problem?.reason ?? null,
      listenerProblem: ports.listenerProblem,
      rules,
      rulesProblem,
      grants: thread.grants,
      strict: thread.turn?.strictReview ?? false,
      confined,
    });
  };

  return new ExecSource({
    platform,
    processes,
    supervisor: ports.supervisor,
    patches: patchPorts(platform, ports.reachOf, ports.visibleTo),
    logins: new LoginEnvironments({
      platform,
      processes,
      confine: (program) => confineProfile(sandbox, program),
    }),
    shell,
    commandShell: modelShell,
    loaded(thread) {
      if (!isForeign(thread)) projects.load(thread);
    },
    unloaded: (threadId) => projects.unload(threadId),
    environment: (threadId) => {
      const config = ports.config();
      const { shellEnvironment } = threadId === undefined ? config : ports.configOf(threadId);
      return { policy: shellEnvironment, secrets: hostSecretNames(config) };
    },
    warn: ports.warn,
    openOutput: (threadId, name) => ports.outputs.create(threadId, name),
    mayRun: ({ facts, turn }) =>
      ports.reachOf(facts.owner).hasFiles && turn?.kind !== "review" && ports.hasCommands(facts.id),
    isForeign,
    async wantedPermissions(thread, requested, from) {
      if (isForeign(thread)) return "this thread's commands cannot be given more. Work with what is allowed.";
      if (hasOwnProfile(thread))
        return "this thread's permission profile is not widened. Work with what it allows.";
      return wantedPermissions({ files: platform.files, home }, thread, requested, from);
    },
    async consent(thread, { text, ...command }) {
      return decide(thread, { kind: "command", command: await parsed(text, command.shell), ...command });
    },
    async consentToInput(thread, { processId, outside }, chars) {
      if (chars === "" || chars === CTRL_C) return { kind: "sandboxed" };
      return decide(thread, { kind: "stdin", process: processId, outside });
    },
    async actions(text, cwd, named) {
      const { commandActions } = await import("./tool/consent/command-actions.ts");
      return commandActions(await parsed(text, named), cwd);
    },
    async onlyReads(text, named) {
      const { onlyReads } = await import("./tool/consent/read-only-commands.ts");
      return onlyReads(await parsed(text, named));
    },
    addRule: (prefix) => ports.rules.allow(prefix),
    addNetworkRule: ({ host, protocol, decision }) =>
      ports.rules.decideHost(host, RULE_PROTOCOLS[protocol], decision),
    async isListedHost(thread, hosts, host) {
      if (isListed(hosts, host)) return true;
      return isHostAllowed((await rulesOf(thread)).rules, host);
    },
    network: {
      platform,
      submit: ports.submit,
      consentToHost: async (thread, { host, port, protocol }, listed) =>
        decide(await ports.inherited(thread), {
          kind: "network",
          host,
          port,
          protocol: RULE_PROTOCOLS[protocol],
          listed,
        }),
    },
    async confine(thread, program, { outside, text, permissions, isHook = false }) {
      const within = await ports.reachOf(thread.facts.owner).commandFolders();
      // A subject's rights are checked again, because they may have been revoked since the approval.
      if (outside && within === null)
        return { kind: "program", program, hosts: null, release: async () => undefined };
      // Checked again, because the path may have been replaced by a symlink since the approval.
      for (const path of permissions?.write ?? [])
        if ((await platform.files.realPath(path)) !== path)
          throw new Error(`${path} now resolves to another path than the one that was approved`);
      const reach = permissions === undefined ? reachable(thread) : widened(reachable(thread), permissions);
      const confined = await sandbox.confine({
        program,
        policy: reach.sandbox,
        within,
        profile: thread.settings.permissionProfile ?? null,
        roots: reach.roots,
        project: thread.settings.cwd,
        gitWritable: (await parsed(text, program.argv[0])).isPlainGit,
        readable: isHook ? [join(home, "hooks")] : outputFolder(thread.facts.id),
        byHost: !isHook,
        widensNetwork: hasNetwork(reach.sandbox) && !hasNetwork(thread.settings.sandbox),
      });
      if (confined.kind === "unavailable") return confined;
      const { release } = confined;
      return {
        ...confined,
        async release() {
          const notices = await release();
          return notices.length === 0 ? undefined : `${notices.join("\n")}\n`;
        },
      };
    },
  });
}

function hasNetwork(policy: SandboxPolicy): boolean {
  return (policy.type === "readOnly" || policy.type === "workspaceWrite") && policy.networkAccess === true;
}

/** The policy without network access, for threads whose network access is decided per host. */
function withoutNetwork(policy: SandboxPolicy): SandboxPolicy {
  return policy.type === "readOnly" || policy.type === "workspaceWrite"
    ? { ...policy, networkAccess: false }
    : policy;
}

/** Submits a command to a loaded thread. Resolves with undefined if the thread is closed or closing. */
export async function submitTo(
  registry: Registry,
  threadId: string,
  command: Command,
): Promise<Submitted | undefined> {
  let submitted: Submitted | undefined;
  try {
    await registry.get(threadId)?.submit(command, (state, records) => {
      submitted = { state, records };
    });
  } catch (cause) {
    if (!(cause instanceof Fault)) throw cause;
  }
  return submitted;
}
