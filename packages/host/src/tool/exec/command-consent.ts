import type { RequestAnswer } from "../../core/requests/records.ts";
import type { CommandItem } from "../../core/terminals/records.ts";
import { decisionOf } from "../consent/answer.ts";
import type { Consent } from "../consent/consent.ts";
import type { Permissions } from "../consent/permissions.ts";
import { type AskedQuestion, type Invocation, refusal, type Step } from "../tool.ts";
import { permissionsView } from "../wanted-permissions.ts";
import { additionalPermissions, questionAbout } from "./additional-permissions.ts";
import { declinedCommand } from "./command-item.ts";
import { argumentsOf, oddInput, workdirOf } from "./exec-arguments.ts";
import type { ExecPorts } from "./ports.ts";
import { freeProcessId } from "./process-id.ts";
import { shownCommand, shownItem } from "./shown-command.ts";

/** What the dispatch of a command is recorded with. */
export interface CommandPlan {
  readonly processId: string;
  readonly outside: boolean;
  /** What it gets beyond the sandbox while it stays in it. */
  readonly permissions?: Permissions;
}

/** Runs a command, asks about it or refuses it. */
export async function decideCommand(ports: ExecPorts, invocation: Invocation): Promise<Step> {
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

/** Goes on with a command that was asked about. */
export async function heardAboutCommand(
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
  // A path may lead elsewhere than when the user was asked about it.
  if (name !== undefined && name !== questionAbout(additional))
    return declined("The command was not run: what it asks for has changed since the user was asked.");
  const consent = await consentTo(ports, invocation, additional);
  // Rules may have changed since it was asked about.
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

/** Where a command runs that has consent. */
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
  const processId = freeProcessId(ports.platform.ids, invocation.thread);
  const recorded: CommandPlan = { processId, ...plan };
  const item = await shownCommand(ports, invocation, processId);
  // What was shown when the user was asked stays as it is.
  return {
    kind: "dispatch",
    again: false,
    plan: recorded,
    item,
    ...(mayChange(item) && { changes: "workspace" }),
  };
}

/** Whether a command may change files: one that only reads needs no copy of what was there before. */
function mayChange({ commandActions }: CommandItem): boolean {
  return commandActions.some(({ type }) => type === "unknown");
}

/**
 * Only what was offered is added: a client may answer with any words. A rule that cannot be saved stops no command.
 * It is added before the command is dispatched, which no host does again: a rule is for all commands, so it must not
 * be lost with this one.
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
    sandbox_permissions: asked,
    justification = null,
    prefix_rule: prefixRule = null,
    shell = null,
  } = argumentsOf(invocation);
  return ports.consent(invocation.thread, {
    text: cmd,
    escalate: asked === "require_escalated",
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
