import type { NetworkCommand, RapCommand } from "../../core/commands.ts";
import type { Commit, ThreadRecord } from "../../core/records.ts";
import { networkDecision } from "../../core/requests/network.ts";
import type { RequestAnswer } from "../../core/requests/records.ts";
import { decisionOn } from "../../core/reviews/verdict.ts";
import type { ThreadState } from "../../core/state.ts";
import type { Platform } from "../../platform/platform.ts";
import { accessTo, type HostRules } from "../../sandbox/network/hosts.ts";
import type { Verdict } from "../../sandbox/network/proxy.ts";
import type { Target } from "../../sandbox/network/request-head.ts";
import { decisionOf } from "../consent/answer.ts";
import type { Consent } from "../consent/consent.ts";

export interface NetworkQuestionPorts {
  readonly platform: Pick<Platform, "clock" | "ids">;
  /** Submits a command to a loaded thread; undefined if the thread takes none any more. */
  submit(threadId: string, command: NetworkCommand | LookUp): Promise<Submitted | undefined>;
  /** Whether a command may connect to a host. */
  consentToHost(thread: ThreadState, target: Target, listed: "allow" | "deny" | null): Promise<Consent>;
}

type LookUp = Extract<RapCommand, { kind: "lookUp" }>;

export interface Submitted {
  readonly state: ThreadState;
  readonly records: readonly ThreadRecord[];
}

/** A command that wants to connect. */
export interface AskingCommand {
  readonly threadId: string;
  readonly itemId: string;
  readonly hosts: HostRules;
}

/** Connections that wait for one answer. */
const MAX_WAITERS = 256;

const METHOD = "item/commandExecution/requestApproval";
const ALLOW: Verdict = { kind: "allow" };

interface Waiter {
  readonly command: AskingCommand;
  resolve(verdict: Verdict): void;
}

/** One question, which all connections of a thread to one place wait for. */
interface Question {
  readonly threadId: string;
  readonly target: Target;
  readonly forGood: boolean;
  waiters: readonly Waiter[];
  /** The command that it belongs to. */
  readonly itemId: string;
  /** Resolves when nobody waits for it any more. */
  readonly settled: Promise<void>;
  settle(): void;
}

/** Decides about the connections of commands, and asks people where that is needed. */
export class NetworkQuestions {
  readonly #ports: NetworkQuestionPorts;
  /** By thread and place. */
  readonly #open = new Map<string, Question>();
  /** By the id of their request, once they are asked. */
  readonly #asked = new Map<number, Question>();
  /** What was answered while a command runs counts for all of its connections. By thread and item, then by place. */
  readonly #answers = new Map<string, Map<string, Verdict>>();

  constructor(ports: NetworkQuestionPorts) {
    this.#ports = ports;
  }

  /** Whether a command may connect; resolves when it is decided, however long that takes. */
  async judge(command: AskingCommand, target: Target): Promise<Verdict> {
    const { threadId, itemId, hosts } = command;
    const { clock } = this.#ports.platform;
    const place = placeOf(target);
    const known = this.#answers.get(commandKey(threadId, itemId))?.get(place);
    if (known !== undefined) return known;
    const joined = this.#open.get(`${threadId} ${place}`);
    if (joined !== undefined) return this.#wait(joined, command);
    const now = await this.#ports.submit(threadId, { kind: "lookUp", at: clock.now() });
    if (now === undefined) return refuse(target, "the thread is closed.");
    const consent = await this.#ports.consentToHost(now.state, target, accessTo(hosts, target.host));
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

  /** Resolves when a question that a command waits for is settled; undefined if it waits for none. */
  waitsFor(threadId: string, itemId: string): Promise<void> | undefined {
    for (const question of this.#open.values())
      if (question.threadId === threadId && question.waiters.some(({ command }) => command.itemId === itemId))
        return question.settled;
    return undefined;
  }

  /** A command has ended: what was answered for it counts no more, and it waits for nothing. */
  forget(threadId: string, itemId: string): void {
    this.#answers.delete(commandKey(threadId, itemId));
    for (const question of this.#open.values()) {
      if (question.threadId !== threadId) continue;
      const { waiters, target } = question;
      question.waiters = waiters.filter(({ command }) => command.itemId !== itemId);
      for (const { command, resolve } of waiters)
        if (command.itemId === itemId) resolve(refuse(target, "the command has ended."));
    }
  }

  /** Called after each commit of a thread. */
  committed({ records }: Commit): void {
    if (this.#asked.size === 0) return;
    for (const record of records) {
      const answer = answerIn(record);
      const question = answer && this.#asked.get(answer.requestId);
      if (question === undefined) continue;
      this.#asked.delete(answer!.requestId);
      this.#settle(question, answer!.answer);
    }
  }

  async #ask(
    command: AskingCommand,
    target: Target,
    { grant, reason, amendment }: Extract<Consent, { kind: "ask" }>,
  ): Promise<Verdict> {
    const { threadId, itemId } = command;
    const key = `${threadId} ${placeOf(target)}`;
    // Another connection may have asked meanwhile.
    const joined = this.#open.get(key);
    if (joined !== undefined) return this.#wait(joined, command);
    let settle!: () => void;
    const settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const forGood = amendment !== null;
    const question: Question = { threadId, target, forGood, itemId, waiters: [], settled, settle };
    this.#open.set(key, question);
    const verdict = this.#wait(question, command);
    const { clock, ids } = this.#ports.platform;
    const requestId = ids.integer();
    this.#asked.set(requestId, question);
    const asked = await this.#ports
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
    if (asked === undefined || asked.records.length === 0) {
      this.#asked.delete(requestId);
      this.#finish(question, refuse(target, whyNotAsked(asked?.state)));
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

  #settle(question: Question, answer: RequestAnswer): void {
    const { threadId, target, waiters, itemId } = question;
    if (answer.kind === "cleared") {
      // The command that it belonged to is gone, or its turn is. Other commands ask for themselves.
      this.#open.delete(`${threadId} ${placeOf(target)}`);
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
      this.#answers.set(key, answers.set(placeOf(target), verdict));
    }
    this.#finish(question, verdict);
  }

  #finish({ threadId, target, waiters, settle }: Question, verdict: Verdict): void {
    this.#open.delete(`${threadId} ${placeOf(target)}`);
    for (const { resolve } of waiters) resolve(verdict);
    settle();
  }
}

/** The answer to a question that a record has: a person's, or a reviewer's in place of it. */
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

function placeOf({ host, port, protocol }: Target): string {
  return `${protocol} ${host} ${port}`;
}

function commandKey(threadId: string, itemId: string): string {
  return `${threadId} ${itemId}`;
}
