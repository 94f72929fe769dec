import { array, boolean, inline, omittable, type Static, string } from "@bobbin/protocol/schema";
import type { Frozen } from "../../core/record-check.ts";
import type { RequestAnswer } from "../../core/requests/records.ts";
import { decisionOf } from "../consent/approval-answer.ts";
import type { Consent } from "../consent/consent.ts";
import type { Permissions } from "../consent/permissions.ts";
import { permissionsView } from "../own/permission-arguments.ts";
import { type AskedQuestion, type Invocation, refusal, type Step } from "../tool.ts";
import { additionalPermissions, questionAbout } from "./additional-permissions.ts";
import { declinedCommand } from "./command-item.ts";
import { argumentsOf, oddInput, shellOf, workdirOf } from "./exec-arguments.ts";
import { shownCommand, shownItem } from "./exec-call-item.ts";
import type { ExecPorts } from "./exec-dependencies.ts";
import { unusedProcessId } from "./unused-process-id.ts";

/** The data recorded when a command is dispatched. */
export const COMMAND_PLAN = inline(() => ({
  processId: string(),
  outside: boolean(),
  /** Permissions beyond the sandbox, for a command that runs inside of it. */
  permissions: omittable(inline(() => ({ network: boolean(), write: array(string()) }))),
}));

type CommandPlan = Frozen<Static<typeof COMMAND_PLAN>>;

/**
 * The first step of an `exec_command` call: dispatch the command, ask the user about it, or refuse it.
 * `warnUnconfined`: called if it is refused because this machine has no sandbox.
 */
export async function decideCommand(
  ports: ExecPorts,
  invocation: Invocation,
  warnUnconfined: (sandboxProblem: string) => void,
): Promise<Step> {
  const odd = oddInput(argumentsOf(invocation));
  if (odd !== null) return refusal(`The command was not run: ${odd}.`);
  const additional = await additionalPermissions(
    ports,
    invocation.thread,
    argumentsOf(invocation),
    workdirOf(invocation),
  );
  if (typeof additional === "string") return refusal(`The command was not run: ${additional}`);
  const consent = await consentTo(ports, invocation, additional);
  switch (consent.kind) {
    case "refuse":
      if (consent.sandboxProblem !== undefined) warnUnconfined(consent.sandboxProblem);
      return refusal(consent.reason);
    case "ask":
      return {
        kind: "ask",
        question: questionAbout(additional),
        item: await shownCommand(ports, invocation, null),
        ask: await askAbout(ports, invocation, consent, additional),
      };
    case "sandboxed":
    case "unsandboxed":
      return dispatch(ports, invocation, placeOf(consent.kind, additional));
  }
}

/** The step after the user has answered the question about a command. */
export async function decideAfterAnswer(
  ports: ExecPorts,
  invocation: Invocation,
  { name }: AskedQuestion,
  answer: RequestAnswer,
): Promise<Step> {
  const decision = decisionOf("item/commandExecution/requestApproval", answer);
  const declined = (output: string): Step => ({
    kind: "settle",
    output,
    success: false,
    item: declinedCommand(shownItem(ports, invocation), invocation.now),
  });
  if (decision.kind === "cancel")
    return { kind: "interrupt", item: declinedCommand(shownItem(ports, invocation), invocation.now) };
  const additional = await additionalPermissions(
    ports,
    invocation.thread,
    argumentsOf(invocation),
    workdirOf(invocation),
  );
  if (typeof additional === "string") return declined(`The command was not run: ${additional}`);
  // Since the question, a symlink may have changed, so that the permissions would apply to another path.
  if (name !== undefined && name !== questionAbout(additional))
    return declined("The command was not run: what it asks for has changed since the user was asked.");
  const consent = await consentTo(ports, invocation, additional);
  // The rules may have changed since the question.
  if (consent.kind === "refuse") return declined(consent.reason);
  const place = placeOf(consent.kind === "ask" ? consent.runs : consent.kind, additional);
  switch (decision.kind) {
    case "accept":
      return dispatch(ports, invocation, place);
    case "acceptWithRule":
      await addRule(ports, consent, decision.prefix);
      return dispatch(ports, invocation, place);
    case "acceptForSession": {
      const step = await dispatch(ports, invocation, place);
      return consent.kind === "ask" ? { ...step, grant: consent.grant } : step;
    }
    case "networkRule":
      return declined("The command was not run: the answer does not fit the question.");
    case "decline":
      return declined(`The command was not run: ${decision.words}`);
  }
}

/** Where an allowed command runs: outside of the sandbox, or inside of it with additional permissions. */
function placeOf(
  kind: "sandboxed" | "unsandboxed",
  additional: Permissions | null,
): Pick<CommandPlan, "outside" | "permissions"> {
  if (kind === "unsandboxed") return { outside: true };
  return { outside: false, ...(additional !== null && { permissions: additional }) };
}

async function dispatch(
  ports: ExecPorts,
  invocation: Invocation,
  plan: Omit<CommandPlan, "processId">,
): Promise<Extract<Step, { kind: "dispatch" }>> {
  const processId = unusedProcessId(ports.platform.ids, invocation.thread);
  const recorded: CommandPlan = { processId, ...plan };
  const { cmd } = argumentsOf(invocation);
  const { shell } = shellOf(ports, invocation);
  const item = await shownCommand(ports, invocation, processId);
  // The item stays as the user saw it with the question.
  return {
    kind: "dispatch",
    again: false,
    plan: recorded,
    item,
    // For a command that only reads, no snapshot of the workspace is taken.
    ...(!(await ports.onlyReads(cmd, shell)) && { changes: "workspace" }),
  };
}

/**
 * Saves the rule that the user accepted, if it is the offered one: a client may answer with any words. If the rule
 * cannot be saved, the command still runs. The rule is saved before the dispatch is recorded: a dispatched command is
 * not repeated after a crash, and the rule, which applies to all commands, would be lost with it.
 */
async function addRule(ports: ExecPorts, consent: Consent, rule: readonly string[]): Promise<void> {
  if (consent.kind !== "ask" || JSON.stringify(consent.amendment) !== JSON.stringify(rule)) return;
  await ports.addRule(rule).catch((cause) => ports.supervisor.report("adding a rule", cause));
}

async function consentTo(
  ports: ExecPorts,
  invocation: Invocation,
  additional: Permissions | null,
): Promise<Consent> {
  const {
    cmd,
    sandbox_permissions: requestedMode,
    justification = null,
    prefix_rule: prefixRule = null,
    shell = null,
  } = argumentsOf(invocation);
  return ports.consent(invocation.thread, {
    text: cmd,
    escalate: requestedMode === "require_escalated",
    justification,
    prefixRule,
    workdir: workdirOf(invocation),
    shell,
    additional,
  });
}

async function askAbout(
  ports: ExecPorts,
  invocation: Invocation,
  { reason, amendment, runs }: Extract<Consent, { kind: "ask" }>,
  additional: Permissions | null,
): Promise<Extract<Step, { kind: "ask" }>["ask"]> {
  const { thread, turnId, call, now } = invocation;
  const { command, cwd, commandActions } = await shownCommand(ports, invocation, null);
  return {
    method: "item/commandExecution/requestApproval",
    params: {
      kind: "command",
      threadId: thread.facts.id,
      turnId,
      itemId: call.callId,
      startedAtMs: now,
      environmentId: "local",
      reason,
      command,
      cwd,
      commandActions,
      ...(additional !== null &&
        runs === "sandboxed" && { additionalPermissions: permissionsView(additional) }),
      ...(amendment !== null && { proposedExecpolicyAmendment: [...amendment] }),
      availableDecisions: [
        "accept",
        "acceptForSession",
        ...(amendment === null
          ? []
          : [{ acceptWithExecpolicyAmendment: { execpolicy_amendment: [...amendment] } }]),
        "decline",
        "cancel",
      ],
    },
  };
}
