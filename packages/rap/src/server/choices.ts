// Questions to users. The answer comes to an address that only the host was told.
import { type JsonObject, LIMITS, parseUserChoiceResponse, underBase } from "../wire/index.ts";
import type { Call } from "./call.ts";
import type { Delivering } from "./deliver.ts";
import { type Platform, randomToken } from "./platform.ts";
import { Recent } from "./recent.ts";
import { ToolError } from "./result.ts";
import type { ThreadScope } from "./thread-scope.ts";
import type { Threads } from "./threads.ts";
import type { Choice, Question } from "./tool.ts";

export const CHOICE_PATH = "/user_choice_response/";

export interface ChoicesOptions {
  readonly platform: Platform;
  readonly delivering: Delivering;
  readonly threads: Threads;
  /** How long an answer is waited for. */
  readonly timeoutMs: number;
}

interface Pending {
  readonly call: Call;
  readonly index: number;
  readonly count: number;
  readonly resolve: (selected: number) => void;
  readonly reject: (error: Error) => void;
}

const FAILED = "The user choice flow failed";

export class Choices {
  readonly #options: ChoicesOptions;
  readonly #pending = new Map<string, Pending>();
  readonly #answered = new Recent<true>(10_000);

  constructor(options: ChoicesOptions) {
    this.#options = options;
  }

  async ask(call: Call, scope: ThreadScope, question: Question): Promise<Choice> {
    check(question);
    const { choices, remember } = question;
    const index = call.nextChoice();
    const kept = this.#remembered(call, question);
    if (kept !== undefined) return kept;
    const selected = call.choice(index)?.selected ?? (await this.#askNow(call, index, question));
    const choice = { index: selected, label: choices[selected]! };
    if (remember?.labels.includes(choice.label)) await scope.remember(remember.key, choice.label);
    return choice;
  }

  #remembered({ invocation, record }: Call, { choices, remember }: Question): Choice | undefined {
    if (remember === undefined) return undefined;
    const ids = [...invocation.thread_ancestors, invocation.group_id];
    const label = this.#options.threads.remembered(record.tenant, ids, remember.key);
    const index = label === undefined ? -1 : choices.indexOf(label);
    return index < 0 ? undefined : { index, label: label! };
  }

  async #askNow(call: Call, index: number, question: Question): Promise<number> {
    const known = call.choice(index);
    const token = known?.token ?? randomToken(this.#options.platform);
    if (known === undefined) await call.saveChoice(index, { token, sent: false });
    const { promise, resolve, reject } = withResolvers<number>();
    this.#pending.set(token, { call, index, count: question.choices.length, resolve, reject });
    const late = `${FAILED}: the user has not answered in time. Try again when they are there.`;
    try {
      return await call.waiting(this.#options.timeoutMs, late, promise, async () => {
        // A user who was asked before a restart is not asked again.
        if (known?.sent !== true) await this.#send(call, token, index, question);
      });
    } finally {
      this.#pending.delete(token);
    }
  }

  async #send(call: Call, token: string, index: number, question: Question): Promise<void> {
    const { group_id, id, call_id, callback_url } = call.invocation;
    const { prompt, choices, default: fallback } = question;
    const response_url = underBase(call.record.base, CHOICE_PATH + token);
    const delivery = await this.#options.delivering.deliver(
      callback_url,
      { type: "user_choice", group_id, id, call_id, prompt, choices, default: fallback, response_url },
      // One that is sent again, after the user has answered it too, is the same question.
      { signal: call.signal, idempotencyKey: `choice-${index}` },
    );
    if (delivery.kind === "aborted") return;
    if (delivery.kind !== "delivered") throw new ToolError(`${FAILED}: the host did not take the question.`);
    const now = call.choice(index);
    if (now?.selected === undefined) await call.saveChoice(index, { token, sent: true });
  }

  /** Takes what was posted to a response URL; the status to answer with. */
  async answer(token: string, body: JsonObject): Promise<200 | 400 | 404> {
    const pending = this.#pending.get(token);
    if (pending === undefined) return this.#answered.get(token) ? 200 : 404;
    const read = parseUserChoiceResponse(body);
    if (!read.ok || read.value.id !== pending.call.invocation.id) return 400;
    const { selected } = read.value;
    if (selected < pending.count) {
      // Kept before it is acknowledged: the user is asked once.
      await pending.call.saveChoice(pending.index, { token, sent: true, selected });
      pending.resolve(selected);
    } else {
      pending.reject(new ToolError(`${FAILED}: there is no such choice. Try again.`));
    }
    this.#pending.delete(token);
    this.#answered.add(token, true);
    return 200;
  }
}

function check({ prompt, choices, default: fallback }: Question): void {
  const fits = (text: string, max: number): boolean => text.trim() !== "" && text.length <= max;
  if (!fits(prompt, LIMITS.prompt)) throw new TypeError("a question needs a prompt of a bounded length");
  if (choices.length === 0 || choices.length > LIMITS.choices)
    throw new TypeError(`a question needs 1 to ${LIMITS.choices} choices`);
  if (!choices.every((label) => fits(label, LIMITS.choice)) || new Set(choices).size !== choices.length)
    throw new TypeError("choices need labels that people can read and tell apart");
  if (!Number.isInteger(fallback) || fallback < 0 || fallback >= choices.length)
    throw new TypeError("the default must be an index of the choices");
}

export function withResolvers<T>(): {
  promise: Promise<T>;
  resolve: (value: T) => void;
  reject: (error: Error) => void;
} {
  let resolve!: (value: T) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
