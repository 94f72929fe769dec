import { join } from "node:path";
import type { SandboxPolicy } from "@bobbin/protocol";
import type { Config } from "./config/config.ts";
import { hostSecretNames } from "./config/host-secrets.ts";
import type { Command } from "./core/commands.ts";
import type { ThreadState } from "./core/state.ts";
import { Fault } from "./errors.ts";
import { blobFolders } from "./journal/blobs.ts";
import type { Supervisor } from "./observe/supervise.ts";
import type { Platform } from "./platform/platform.ts";
import { LoginEnvironments } from "./process/login-environment.ts";
import type { ProcessManager } from "./process/process-manager.ts";
import { confineProfile } from "./sandbox/confine-profile.ts";
import { isListed } from "./sandbox/network/hosts.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import type { VisibleFiles } from "./sandbox/visible-files.ts";
import type { Reach } from "./server/reach.ts";
import type { Registry } from "./thread/registry.ts";
import type { Consent, Intent } from "./tool/consent/consent.ts";
import { widened } from "./tool/consent/permissions.ts";
import { hasRuleFor, type NetworkRule, RULE_PROTOCOLS, type Rules } from "./tool/consent/rules.ts";
import { isShell } from "./tool/consent/shell-words.ts";
import { ExecSource } from "./tool/exec/exec-source.ts";
import type { NetworkQuestionPorts, Submitted } from "./tool/exec/network-questions.ts";
import { patchPorts } from "./tool/own-tools.ts";
import { WithheldRuleNotes } from "./tool/project-trust.ts";
import type { RulesStore } from "./tool/rules-store.ts";
import { hasOwnProfile, reachable, wantedPermissions } from "./tool/wanted-permissions.ts";

export interface ComposeExecPorts {
  readonly home: string;
  readonly platform: Platform;
  readonly processes: ProcessManager;
  readonly sandbox: Sandbox;
  readonly supervisor: Supervisor;
  readonly rules: RulesStore;
  /** Why a command with network could connect to this host; null if it could not. */
  readonly listenerProblem: string | null;
  config(): Config;
  /** The files that a thread's model may see. */
  visibleTo(thread: ThreadState): VisibleFiles;
  /** Sends a warning to whoever follows a thread; false if nobody does. */
  warn(threadId: string, message: string): boolean;
  /** Submits a command to a loaded thread; undefined if the thread takes none any more. */
  submit: NetworkQuestionPorts["submit"];
  /** What threads of an owner may reach. */
  reachOf(owner: string): Reach;
}

const CTRL_C = "\u0003";

/** Puts together what runs commands. What reads shell text is loaded with the first command. */
export function composeExec(ports: ComposeExecPorts): ExecSource {
  const { home, platform, processes, sandbox } = ports;
  const shell = platform.env["SHELL"] || "/bin/sh";
  const consentOf = () => import("./tool/consent/decide.ts");
  const shellOf = () => import("./tool/consent/shell.ts");

  const ruleNotes = new WithheldRuleNotes(ports.warn);
  const outputFolder = (threadId: string): string => join(blobFolders(home, threadId, false)[0], "outputs");

  const isForeign = ({ facts }: ThreadState): boolean => !ports.reachOf(facts.owner).grants("full-access");

  /** Hosts are told apart: by the thread's profile, or for everything that has the network. */
  const hasNetworkByHost = ({ settings }: ThreadState): boolean => {
    const { networkProxy, permissionProfiles } = ports.config();
    if (networkProxy !== null) return true;
    return typeof permissionProfiles.get(settings.permissionProfile ?? "")?.network === "object";
  };

  /** With what was decided a moment ago, and may not be in the file yet. */
  const rulesOf = async (thread: ThreadState): Promise<Rules> => {
    const { settings, networkRules } = thread;
    // Files above a subject's own folders are not read for it.
    const { rules, project } = await ports.rules.load(isForeign(thread) ? undefined : settings.cwd);
    if (project !== null) ruleNotes.warn(thread.facts.id, project);
    if (networkRules.length === 0) return rules;
    const due = networkRules.map(
      ({ host, protocol, decision }): NetworkRule => ({
        host,
        protocol: RULE_PROTOCOLS[protocol],
        decision: decision === "deny" ? "forbidden" : "allow",
        justification: null,
        origin: { file: "", line: 0 },
      }),
    );
    return { ...rules, network: [...rules.network, ...due] };
  };

  const decide = async (thread: ThreadState, what: Intent): Promise<Consent> => {
    const { decideConsent } = await consentOf();
    const { approvalPolicy: policy } = thread.settings;
    const { sandbox: policyOfSandbox, roots } = reachable(thread);
    const problem = await sandbox.problem();
    const confined = isForeign(thread);
    return decideConsent({
      what,
      policy,
      sandbox: hasNetworkByHost(thread) ? withoutNetwork(policyOfSandbox) : policyOfSandbox,
      roots: await Promise.all(roots.map((root) => platform.files.realPath(root))),
      sandboxProblem: problem?.reason ?? null,
      listenerProblem: ports.listenerProblem,
      rules: await rulesOf(thread),
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
    environment: () => {
      const config = ports.config();
      return { policy: config.shellEnvironment, secrets: hostSecretNames(config) };
    },
    warn: ports.warn,
    async openOutput(threadId, name) {
      const folder = outputFolder(threadId);
      const path = join(folder, name);
      return { path, file: await platform.files.openAppend(path, { fresh: true }) };
    },
    mayRun: ({ facts, turn }) => ports.reachOf(facts.owner).hasFiles && turn?.kind !== "review",
    isForeign,
    async wantedPermissions(thread, asked, from) {
      if (isForeign(thread)) return "this thread's commands cannot be given more. Work with what is allowed.";
      if (hasOwnProfile(thread))
        return "this thread's permission profile is not widened. Work with what it allows.";
      return wantedPermissions({ files: platform.files, home }, thread, asked, from);
    },
    async consent(thread, { text, ...asked }) {
      const { parseCommand } = await shellOf();
      return decide(thread, { kind: "command", command: parseCommand(text), ...asked });
    },
    async consentToInput(thread, { processId, outside }, chars) {
      if (chars === "" || chars === CTRL_C) return { kind: "sandboxed" };
      return decide(thread, { kind: "stdin", process: processId, outside });
    },
    async actions(text, cwd) {
      const [{ parseCommand }, { commandActions }] = await Promise.all([
        shellOf(),
        import("./tool/consent/command-actions.ts"),
      ]);
      return commandActions(parseCommand(text), cwd);
    },
    addRule: (prefix) => ports.rules.allow(prefix),
    addNetworkRule: ({ host, protocol, decision }) =>
      ports.rules.decideHost(host, RULE_PROTOCOLS[protocol], decision),
    async isListedHost(thread, hosts, host) {
      if (isListed(hosts, host)) return true;
      return hasRuleFor(await rulesOf(thread), host);
    },
    network: {
      platform,
      submit: ports.submit,
      consentToHost: (thread, { host, port, protocol }, listed) =>
        decide(thread, { kind: "network", host, port, protocol: RULE_PROTOCOLS[protocol], listed }),
    },
    async confine(thread, program, { outside, text, permissions }) {
      const within = await ports.reachOf(thread.facts.owner).commandFolders();
      // What was allowed when it was decided may have been taken from its owner since.
      if (outside && within === null)
        return { kind: "program", program, hosts: null, release: async () => undefined };
      const { parseCommand } = await shellOf();
      // Somebody may have put a link in its place since it was approved.
      for (const path of permissions?.write ?? [])
        if ((await platform.files.realPath(path)) !== path)
          throw new Error(`${path} is no longer the place that was approved`);
      const reach = permissions === undefined ? reachable(thread) : widened(reachable(thread), permissions);
      const confined = await sandbox.confine({
        program,
        policy: reach.sandbox,
        within,
        profile: thread.settings.permissionProfile ?? null,
        roots: reach.roots,
        // Another program may make anything of the text.
        gitWritable: (program.argv[0] === shell || isShell(program.argv[0])) && parseCommand(text).isPlainGit,
        readable: [outputFolder(thread.facts.id)],
        byHost: true,
        widensNetwork: hasNetwork(reach.sandbox) && !hasNetwork(thread.settings.sandbox),
      });
      if (confined.kind === "unavailable") return confined;
      const { release } = confined;
      return {
        ...confined,
        async release() {
          const undone = await release();
          return undone.length === 0 ? undefined : `${undone.join("\n")}\n`;
        },
      };
    },
  });
}

function hasNetwork(policy: SandboxPolicy): boolean {
  return (policy.type === "readOnly" || policy.type === "workspaceWrite") && policy.networkAccess === true;
}

/** Hosts that are told apart are decided about one by one. */
function withoutNetwork(policy: SandboxPolicy): SandboxPolicy {
  return policy.type === "readOnly" || policy.type === "workspaceWrite"
    ? { ...policy, networkAccess: false }
    : policy;
}

/** Submits a command to a loaded thread; undefined if the thread is closed, or closes. */
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
