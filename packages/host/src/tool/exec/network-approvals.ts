import { decisionOn } from "../../core/approval-reviews/verdict-outcome.ts";
import type { RapCommand } from "../../core/rap/commands.ts";
import type { Commit, ThreadRecord } from "../../core/records.ts";
import type { NetworkCommand } from "../../core/requests/commands.ts";
import { networkDecision } from "../../core/requests/network-questions.ts";
import type { RequestAnswer } from "../../core/requests/records.ts";
import type { ThreadState } from "../../core/state.ts";
import type { Platform } from "../../platform/platform.ts";
import { accessTo, type HostRules } from "../../sandbox/network/host-rules.ts";
import type { Verdict } from "../../sandbox/network/proxy.ts";
import type { Target } from "../../sandbox/network/proxy-request.ts";
import { decisionOf } from "../consent/approval-answer.ts";
import type { Consent } from "../consent/consent.ts";

/** The parts of the host that network approvals need. */
export interface NetworkApprovalPorts {
  readonly platform: Pick<Platform, "clock" | "ids">;
  /** Submits a command to a loaded thread; undefined if the thread is closed. */
  submit(threadId: string, command: NetworkCommand | LookUp): Promise<Submitted | undefined>;
  /** Whether a command may connect to a network host. */
  consentToHost(thread: ThreadState, target: Target, listed: "allow" | "deny" | null): Promise<Consent>;
}

type LookUp = Extract<RapCommand, { kind: "lookUp" }>;

export interface Submitted {
  readonly state: ThreadState;
  readonly records: readonly ThreadRecord[];
}

/** A command that wants to open connections. */
export interface AskingCommand {
  readonly threadId: string;
  readonly itemId: string;
  readonly hosts: HostRules;
}

/** Limit on the connections that wait for one answer. */
const MAX_WAITERS = 256;

const METHOD = "item/commandExecution/requestApproval";
const COMMAND_ENDED = "the command has ended.";
const ALLOW: Verdict = { kind: "allow" };

interface Waiter {
  readonly command: AskingCommand;
  resolve(verdict: Verdict): void;
}

/**
 * One approval question. All connections of a thread to the same network host, port and protocol wait for its answer.
 */
interface Question {
  readonly threadId: string;
  readonly target: Target;
  /** Whether a permanent rule is offered as an answer. */
  readonly forGood: boolean;
  waiters: readonly Waiter[];
  /** The command that the question is shown with. */
  readonly itemId: string;
  /** Resolves when no connection waits for the question any more. */
  readonly settled: Promise<void>;
  settle(): void;
}

/** Decides whether commands may open network connections. Asks users for approval if the rules demand it. */
export class NetworkApprovals {
  readonly #ports: NetworkApprovalPorts;
  /** Questions without an answer, by thread and target. */
  readonly #openQuestions = new Map<string, Question>();
  /** Questions that were sent, by request ID. */
  readonly #sentQuestions = new Map<number, Question>();
  /** Answers by thread and item, then by target. An answer counts for all later connections of the same command. */
  readonly #answers = new Map<string, Map<string, Verdict>>();
  readonly #ended = new WeakSet<AskingCommand>();

  constructor(ports: NetworkApprovalPorts) {
    this.#ports = ports;
  }

  /** Decides whether a command may connect. May take as long as a user needs to answer. */
  async judge(command: AskingCommand, target: Target): Promise<Verdict> {
    const { threadId, itemId, hosts } = command;
    const { clock } = this.#ports.platform;
    const targetName = targetKey(target);
    const known = this.#answers.get(commandKey(threadId, itemId))?.get(targetName);
    if (known !== undefined) return known;
    const joined = this.#openQuestions.get(`${threadId} ${targetName}`);
    if (joined !== undefined) return this.#wait(joined, command);
    const now = await this.#ports.submit(threadId, { kind: "lookUp", at: clock.now() });
    if (now === undefined) return refuse(target, "the thread is closed.");
    const consent = await this.#ports.consentToHost(now.state, target, accessTo(hosts, target.host));
    if (this.#ended.has(command)) return refuse(target, COMMAND_ENDED);
    switch (consent.kind) {
      case "sandboxed":
      case "unsandboxed":
        return ALLOW;
      case "refuse":
        return { kind: "refuse", words: consent.reason };
      case "ask":
        return this.#ask(command, target, consent);
    }
  }

  /** Resolves when the question that a command waits for is settled; undefined if it waits for none. */
  waitsFor(threadId: string, itemId: string): Promise<void> | undefined {
    for (const question of this.#openQuestions.values())
      if (question.threadId === threadId && question.waiters.some(({ command }) => command.itemId === itemId))
        return question.settled;
    return undefined;
  }

  /** Drops the answers for a command that has ended, and refuses its connections. */
  forget(ended: AskingCommand): void {
    const { threadId, itemId } = ended;
    this.#ended.add(ended);
    this.#answers.delete(commandKey(threadId, itemId));
    for (const question of this.#openQuestions.values()) {
      if (question.threadId !== threadId) continue;
      const { waiters, target } = question;
      question.waiters = waiters.filter(({ command }) => command.itemId !== itemId);
      for (const { command, resolve } of waiters)
        if (command.itemId === itemId) resolve(refuse(target, COMMAND_ENDED));
    }
  }

  /** Settles the questions that the records of a commit answer. Called after each commit of a thread. */
  committed({ records }: Commit): void {
    if (this.#sentQuestions.size === 0) return;
    for (const record of records) {
      const answer = answerIn(record);
      const question = answer && this.#sentQuestions.get(answer.requestId);
      if (question === undefined) continue;
      this.#sentQuestions.delete(answer!.requestId);
      this.#settle(question, answer!.answer);
    }
  }

  async #ask(
    command: AskingCommand,
    target: Target,
    { grant, reason, amendment }: Extract<Consent, { kind: "ask" }>,
  ): Promise<Verdict> {
    const { threadId, itemId } = command;
    const key = `${threadId} ${targetKey(target)}`;
    // Another connection may have asked the same question while the consent was being decided.
    const joined = this.#openQuestions.get(key);
    if (joined !== undefined) return this.#wait(joined, command);
    let settle!: () => void;
    const settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const forGood = amendment !== null;
    const question: Question = { threadId, target, forGood, itemId, waiters: [], settled, settle };
    this.#openQuestions.set(key, question);
    const verdict = this.#wait(question, command);
    const { clock, ids } = this.#ports.platform;
    const requestId = ids.integer();
    this.#sentQuestions.set(requestId, question);
    const submitted = await this.#ports
      .submit(threadId, {
        kind: "askNetwork",
        at: clock.now(),
        requestId,
        reviewId: ids.uuid(),
        itemId,
        ...target,
        grant,
        forGood,
        reason,
      })
      .catch(() => undefined);
    if (submitted === undefined || submitted.records.length === 0) {
      this.#sentQuestions.delete(requestId);
      this.#finish(question, refuse(target, whyNotAsked(submitted?.state)));
    }
    return verdict;
  }

  #wait(question: Question, command: AskingCommand): Promise<Verdict> {
    if (question.waiters.length >= MAX_WAITERS)
      return Promise.resolve(refuse(question.target, "too many connections wait for the same answer."));
    return new Promise((resolve) => {
      question.waiters = [...question.waiters, { command, resolve }];
    });
  }

  /** Ends a question with an answer: allows or refuses all connections that wait for the question. */
  #settle(question: Question, answer: RequestAnswer): void {
    const { threadId, target, waiters, itemId } = question;
    if (answer.kind === "cleared") {
      // The question was withdrawn, because its command or the turn has ended. The command's own connections are
      // refused. For connections of other commands to the same target, the decision is made again, and may ask again.
      this.#openQuestions.delete(`${threadId} ${targetKey(target)}`);
      for (const { command, resolve } of waiters)
        if (command.itemId === itemId) resolve(refuse(target, "the question about it was withdrawn."));
        else
          this.judge(command, target).then(resolve, () => resolve(refuse(target, "nobody could be asked.")));
      return question.settle();
    }
    const verdict = verdictOf(question, answer);
    for (const { command } of waiters) {
      const key = commandKey(threadId, command.itemId);
      const answers = this.#answers.get(key) ?? new Map<string, Verdict>();
      this.#answers.set(key, answers.set(targetKey(target), verdict));
    }
    this.#finish(question, verdict);
  }

  #finish({ threadId, target, waiters, settle }: Question, verdict: Verdict): void {
    this.#openQuestions.delete(`${threadId} ${targetKey(target)}`);
    for (const { resolve } of waiters) resolve(verdict);
    settle();
  }
}

/** The answer to a question in a record: from a user, or from an automatic reviewer. */
function answerIn(
  record: ThreadRecord,
): { readonly requestId: number; readonly answer: RequestAnswer } | undefined {
  if (record.type === "requestResolved") return record;
  if (record.type !== "reviewEnded" || record.requestId === undefined) return undefined;
  return { requestId: record.requestId, answer: decisionOn(record.review) };
}

function verdictOf({ target, forGood }: Question, answer: RequestAnswer): Verdict {
  switch (networkDecision({ host: target.host, forGood }, answer)) {
    case "once":
    case "session":
    case "allowForGood":
      return ALLOW;
    case "denyForGood":
      return refuse(target, "the user forbade connections to this host.");
    case "decline":
    case "cancel": {
      const decision = decisionOf(METHOD, answer);
      return refuse(target, decision.kind === "decline" ? decision.words : "the user cancelled it.");
    }
  }
}

function whyNotAsked(state: ThreadState | undefined): string {
  if (state === undefined) return "the thread is closed.";
  if (state.turn === null) return "nobody can be asked about it while no turn runs.";
  return "too many hosts are asked about already. Try again when those questions are answered.";
}

function refuse({ host, port }: Target, because: string): Verdict {
  return { kind: "refuse", words: `The connection to ${host}:${port} was refused: ${because}` };
}

function targetKey({ host, port, protocol }: Target): string {
  return `${protocol} ${host} ${port}`;
}

function commandKey(threadId: string, itemId: string): string {
  return `${threadId} ${itemId}`;
}
