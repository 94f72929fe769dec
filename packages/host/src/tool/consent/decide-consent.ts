import { createHash } from "node:crypto";
import type { SandboxPolicy } from "@bobbin/protocol";
import {
  type NetworkProtocol,
  networkRuleFor,
  type PrefixRule,
  ruleFor,
} from "./command-and-network-rules.ts";
import {
  type Consent,
  type ConsentRequest,
  type Intent,
  mayAsk,
  NEEDS_APPROVAL,
  UNCONFINED,
} from "./consent.ts";
import { stdinGrant } from "./list-grants.ts";
import { mcpConsent } from "./mcp-consent.ts";
import { patchConsent } from "./patch-consent.ts";
import { type Permissions, permissionWords } from "./permissions.ts";
import { amendmentFor } from "./rule-proposal.ts";

/** Limit on the length of a command's grant key. A longer key is shortened to its beginning and a digest. */
const MAX_GRANT = 1024;

const SANDBOXED: Consent = { kind: "sandboxed" };

/** Decides about an action: run it in the sandbox, run it outside, ask the user, or refuse. Pure. */
export function decideConsent(request: ConsentRequest): Consent {
  const { what } = request;
  switch (what.kind) {
    case "command":
      return strictly(request, commandConsent(request, what));
    case "stdin":
      return stdinConsent(request, what);
    case "patch":
      return strictly(request, patchConsent(request, what));
    case "tool":
      if (!what.asks || request.grants.includes(what.key)) return SANDBOXED;
      if (!mayAsk(request.policy, "mcp_elicitations")) return { kind: "refuse", reason: NEEDS_APPROVAL };
      return { kind: "ask", reason: null, amendment: null, grant: what.key, runs: "sandboxed" };
    case "mcp":
      return mcpConsent(request, what);
    case "permissions":
      if (request.grants.includes(what.key)) return SANDBOXED;
      if (!mayAsk(request.policy, "request_permissions"))
        return {
          kind: "refuse",
          reason:
            "No permissions were granted: this thread is set to ask for none. Work with what is allowed.",
        };
      return { kind: "ask", reason: what.reason, amendment: null, grant: what.key, runs: "sandboxed" };
    case "network":
      return networkConsent(request, what);
  }
}

/**
 * Turns consent into a question if a reviewer checks all actions of the turn. The answer is never stored as a grant.
 */
function strictly({ strict }: ConsentRequest, consent: Consent): Consent {
  if (!strict || (consent.kind !== "sandboxed" && consent.kind !== "unsandboxed")) return consent;
  return {
    kind: "ask",
    reason: "All that this turn does is reviewed",
    amendment: null,
    grant: "",
    runs: consent.kind,
  };
}

type Of<K extends Intent["kind"]> = Extract<Intent, { kind: K }>;

function commandConsent(request: ConsentRequest, what: Of<"command">): Consent {
  const { policy, grants, rules, confined = false } = request;
  const { command, shell = null } = what;
  const matched = command.found.map((words) => ruleFor(rules, words));
  const forbidden = matched.find((rule) => rule?.decision === "forbidden");
  if (forbidden)
    return {
      kind: "refuse",
      reason: `The command was not run: a rule forbids ${shown(forbidden)}.${because(forbidden)}`,
    };
  const needsSandbox = isRestricted(request.sandbox);
  const outside =
    needsSandbox &&
    (what.escalate || request.sandboxProblem !== null || (command.changesGitSettings && !confined));
  if (outside && confined)
    return {
      kind: "refuse",
      reason: `The command was not run: this thread's commands only run in the sandbox${request.sandboxProblem === null ? "" : `, and ${request.sandboxProblem}`}.`,
    };
  // A command that runs outside of the sandbox needs no additional permissions.
  const additional = needsSandbox && !outside ? (what.additional ?? null) : null;
  if (additional !== null && confined)
    return {
      kind: "refuse",
      reason:
        "The command was not run: this thread's sandbox cannot be widened. Work with what the sandbox allows.",
    };
  const words = [command.text, what.workdir, ...(shell === null ? [] : [shell])];
  const grant = commandGrant(words, outside, additional);
  const granted: Consent = outside
    ? { kind: "unsandboxed", because: "it was allowed for the session" }
    : SANDBOXED;
  if (grants.includes(grant)) return granted;
  const prompt = matched.find((rule) => rule?.decision === "prompt") ?? null;
  const allowed = command.words?.map((words) => ruleFor(rules, words)) ?? [null];
  const rulesProblem = request.rulesProblem ?? null;
  if (prompt === null && rulesProblem === null && allowed.every((rule) => rule?.decision === "allow"))
    return confined ? SANDBOXED : { kind: "unsandboxed", because: `a rule allows ${shown(allowed[0]!)}` };
  const why = whyAsked(request, { ...what, additional }, prompt);
  if (why === null) return SANDBOXED;
  if (!mayAsk(policy, prompt === null ? "sandbox_approval" : "rules"))
    return {
      kind: "refuse",
      reason: `The command was not run: ${why.model}, and this thread is set to ask nobody. ${why.advice}`,
      ...(why.sandboxProblem !== undefined && { sandboxProblem: why.sandboxProblem }),
    };
  return {
    kind: "ask",
    reason: why.person,
    // No rule is offered for additional permissions: it would let the command run outside of the sandbox, which
    // allows more.
    amendment:
      prompt === null && rulesProblem === null && !confined && additional === null
        ? amendmentFor(command, what.prefixRule, rules)
        : null,
    grant,
    runs: outside ? "unsandboxed" : "sandboxed",
  };
}

/** The reason for a question, in one text for the user and one for the model. */
interface Why {
  /** Shown with the question; null if there is nothing to explain. */
  readonly person: string | null;
  /** A phrase for the middle of a sentence that the model gets. */
  readonly model: string;
  readonly advice: string;
  readonly sandboxProblem?: string;
}

/** Why a command that no rule allows needs approval; null if it needs none. */
function whyAsked(request: ConsentRequest, what: Of<"command">, prompt: PrefixRule | null): Why | null {
  const { sandbox, sandboxProblem, policy } = request;
  const { command, justification } = what;
  if (prompt !== null)
    return {
      person: prompt.justification ?? `A rule asks about ${shown(prompt)}`,
      model: `a rule asks the user about ${shown(prompt)}`,
      advice: "Find another way.",
    };
  if (request.rulesProblem != null)
    return {
      person: withJustification(justification, `A rule may forbid it: ${request.rulesProblem}`),
      model: `a rule may forbid it, because the rules of the project could not be read (${request.rulesProblem})`,
      advice: "Go on without commands, and tell the user about the rules.",
    };
  if (isRestricted(sandbox) && sandboxProblem !== null)
    return {
      person: withJustification(justification, `${UNCONFINED}: ${sandboxProblem}`),
      model: `it cannot be confined, because ${sandboxProblem}`,
      advice: "Go on without commands, or ask the user to allow it by a rule.",
      sandboxProblem,
    };
  if (command.problem !== null)
    return {
      person: withJustification(justification, `It could not be read: ${command.problem}`),
      model: `it could not be read (${command.problem})`,
      advice: "Use shorter commands.",
    };
  // Also asked about without a sandbox, as in the Codex CLI: nothing else would stop a mistake.
  if (command.isDangerous)
    return {
      person: justification ?? "It removes files with force or with their folders, or may do so",
      model: "it removes files with force or recursion, or may do so, which has to be approved",
      advice: "Remove files by their names, as in `rm -- FILE`, and name programs and options literally.",
    };
  if (isRestricted(sandbox) && command.changesGitSettings && !what.escalate && !request.confined)
    return {
      person: withJustification(
        justification,
        "It changes settings of the repository that the sandbox protects",
      ),
      model: "it changes settings of the repository that the sandbox protects, so it has to run outside",
      advice: "Go on without it, and tell the user what is left to do.",
    };
  if (isRestricted(sandbox) && what.escalate)
    return {
      person: justification,
      model: "running it outside of the sandbox has to be approved",
      advice: "Work inside of the sandbox.",
    };
  if (what.additional != null) {
    const reason = justification ?? `It is to ${permissionWords(what.additional)}`;
    const problem = what.additional.network ? (request.listenerProblem ?? null) : null;
    return {
      person: problem === null ? reason : withJustification(reason, `It gets the network, and ${problem}`),
      model: "more than the sandbox allows has to be approved",
      advice: "Work inside of the sandbox.",
    };
  }
  // A thread without a sandbox could do worse things anyway, so it needs no question.
  if (isRestricted(sandbox) && hasNetwork(sandbox) && request.listenerProblem != null)
    return {
      person: withJustification(justification, `It has the network, and ${request.listenerProblem}`),
      model: `it has the network, and ${request.listenerProblem}`,
      advice: "Go on without commands, or ask the user to allow it by a rule.",
    };
  if (policy === "untrusted")
    return { person: justification, model: "it has to be approved", advice: "Go on without it." };
  return null;
}

function withJustification(justification: string | null, reason: string): string {
  return justification === null ? reason : `${justification} (${reason})`;
}

function stdinConsent({ policy, sandbox, grants }: ConsentRequest, what: Of<"stdin">): Consent {
  if (!what.outside || !isRestricted(sandbox)) return SANDBOXED;
  const grant = stdinGrant(what.process);
  const because = "input to this process was allowed";
  if (grants.includes(grant)) return { kind: "unsandboxed", because };
  if (!mayAsk(policy, "sandbox_approval"))
    return {
      kind: "refuse",
      reason:
        "The input was not written: the process can do more than the sandbox allows, and this thread is set to ask nobody.",
    };
  return {
    kind: "ask",
    reason: "The process can do more than the sandbox allows",
    amendment: null,
    grant,
    runs: "unsandboxed",
  };
}

function networkConsent(request: ConsentRequest, what: Of<"network">): Consent {
  const { policy, sandbox, grants, rules } = request;
  const { host, port, protocol, listed = null } = what;
  const rule = networkRuleFor(rules, host, protocol);
  if (rule?.decision === "forbidden")
    return { kind: "refuse", reason: `A rule forbids connections to ${host}.${because(rule)}` };
  if (listed === "deny")
    return { kind: "refuse", reason: `The configuration forbids connections to ${host}.` };
  const grant = `network ${protocol} ${host.toLowerCase()}:${port}`;
  if (grants.includes(grant)) return SANDBOXED;
  const rulesProblem = request.rulesProblem ?? null;
  const isAllowed =
    rule?.decision === "allow" || hasNetwork(sandbox) || (listed === "allow" && rule === null);
  if (isAllowed && rulesProblem === null) return SANDBOXED;
  if (!mayAsk(policy, rule === null ? "sandbox_approval" : "rules"))
    return {
      kind: "refuse",
      reason: `The connection to ${host} was refused: it is not among the allowed hosts, and this thread is set to ask nobody.`,
    };
  return {
    kind: "ask",
    reason:
      rulesProblem === null
        ? (rule?.justification ?? unusualPort(protocol, port))
        : `A rule may forbid it: ${rulesProblem}`,
    // A saved rule applies to all threads of the host, so none is offered if it would override an existing rule.
    amendment: rule === null && rulesProblem === null && !(request.confined ?? false) ? [host] : null,
    grant,
    runs: "sandboxed",
  };
}

/** The port, if it is not the usual one of the protocol. Clients show the host and the protocol, but not the port. */
function unusualPort(protocol: NetworkProtocol, port: number): string | null {
  const usual = { http: 80, https: 443, socks5_tcp: null, socks5_udp: null }[protocol];
  return port === usual ? null : `On port ${port}`;
}

/**
 * The grant key of a command. It identifies the exact text, folder and shell, whether the command runs in the
 * sandbox, and its additional permissions.
 */
function commandGrant(what: readonly string[], outside: boolean, additional: Permissions | null): string {
  const where = outside ? "outside" : "inside";
  const key = JSON.stringify([where, ...what, ...(additional === null ? [] : [additional])]);
  if (key.length <= MAX_GRANT) return `command ${key}`;
  // The beginning of the command stays readable, because users list their grants. The object with the digest cannot
  // be confused with the words of a shorter key.
  const sha256 = createHash("sha256").update(key).digest("hex");
  const [text = "", workdir = ""] = what;
  const more =
    additional === null ? {} : { network: additional.network, write: additional.write.slice(0, 1) };
  return `command ${JSON.stringify([where, cut(text), cut(workdir), { sha256, ...more }])}`;
}

function cut(text: string): string {
  return text.length <= 300 ? text : `${text.slice(0, 300)}…`;
}

function isRestricted({ type }: SandboxPolicy): boolean {
  return type === "readOnly" || type === "workspaceWrite";
}

function hasNetwork(sandbox: SandboxPolicy): boolean {
  switch (sandbox.type) {
    case "dangerFullAccess":
      return true;
    case "externalSandbox":
      return sandbox.networkAccess === "enabled";
    default:
      return sandbox.networkAccess ?? false;
  }
}

function shown({ pattern }: PrefixRule): string {
  return `\`${pattern.map((choices) => choices.join("|")).join(" ")}\``;
}

function because({ justification }: { readonly justification: string | null }): string {
  return justification === null ? "" : ` ${justification}`;
}
