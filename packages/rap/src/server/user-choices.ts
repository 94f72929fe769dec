// Questions to users. The host posts the answer to a URL with a random token, which only the host knows.
import { type JsonObject, LIMITS, parseUserChoiceResponse, underBase } from "../wire/index.ts";
import type { Call } from "./call.ts";
import type { CallbackSender } from "./callback-sender.ts";
import { type Platform, randomToken } from "./platform.ts";
import { RecentMap } from "./recent-map.ts";
import type { ThreadRegistry } from "./thread-registry.ts";
import type { ThreadScope } from "./thread-scope.ts";
import type { Choice, Question } from "./tool.ts";
import { ToolError } from "./tool-result.ts";

export const CHOICE_PATH = "/user_choice_response/";

export interface UserChoicesOptions {
  readonly platform: Platform;
  readonly sender: CallbackSender;
  readonly threads: ThreadRegistry;
  /** Time limit for the user's answer. */
  readonly timeoutMs: number;
}

interface Pending {
  readonly call: Call;
  readonly index: number;
  readonly count: number;
  readonly resolve: (selected: number) => void;
  readonly reject: (error: Error) => void;
  /** Set while the first answer is stored. */
  storing?: Promise<void>;
}

const FAILED = "The user choice flow failed";

export class UserChoices {
  readonly #options: UserChoicesOptions;
  readonly #pending = new Map<string, Pending>();
  readonly #answered = new RecentMap<true>(10_000);

  constructor(options: UserChoicesOptions) {
    this.#options = options;
  }

  async ask(call: Call, scope: ThreadScope, question: Question): Promise<Choice> {
    check(question);
    const { choices, remember } = question;
    const index = call.nextChoice();
    const remembered = this.#remembered(call, question);
    if (remembered !== undefined) return remembered;
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
    const late = `${FAILED}: the user did not answer in time. Try again when they are there.`;
    try {
      return await call.waiting(this.#options.timeoutMs, late, promise, async () => {
        // A question that was sent before a restart is not sent again.
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
    const delivery = await this.#options.sender.deliver(
      callback_url,
      { type: "user_choice", group_id, id, call_id, prompt, choices, default: fallback, response_url },
      // A retry carries the same key, so that the host shows the question once.
      { signal: call.signal, idempotencyKey: `choice-${index}` },
    );
    if (delivery.kind === "aborted") return;
    if (delivery.kind !== "delivered")
      throw new ToolError(`${FAILED}: the host did not accept the question.`);
    const now = call.choice(index);
    if (now?.selected === undefined) await call.saveChoice(index, { token, sent: true });
  }

  /** Handles a body that was posted to a response URL. Resolves with the HTTP status of the reply. */
  async answer(token: string, body: JsonObject): Promise<200 | 400 | 404> {
    const pending = this.#pending.get(token);
    if (pending === undefined) return this.#answered.get(token) ? 200 : 404;
    const read = parseUserChoiceResponse(body);
    if (!read.ok || read.value.id !== pending.call.invocation.id) return 400;
    const { selected } = read.value;
    // The first answer counts. Another answer that comes while the first is being stored is acknowledged, too.
    if (pending.storing !== undefined) {
      await pending.storing;
      return 200;
    }
    if (selected < pending.count) {
      // The answer is stored before it is acknowledged, so that a restart does not lose it.
      pending.storing = pending.call.saveChoice(pending.index, { token, sent: true, selected });
      try {
        await pending.storing;
      } finally {
        delete pending.storing;
      }
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
  if (!fits(prompt, LIMITS.prompt))
    throw new TypeError(`a question needs a prompt of at most ${LIMITS.prompt} characters`);
  if (choices.length === 0 || choices.length > LIMITS.choices)
    throw new TypeError(`a question needs 1 to ${LIMITS.choices} choices`);
  if (!choices.every((label) => fits(label, LIMITS.choice)) || new Set(choices).size !== choices.length)
    throw new TypeError(`choices need different labels of 1 to ${LIMITS.choice} characters`);
  if (!Number.isInteger(fallback) || fallback < 0 || fallback >= choices.length)
    throw new TypeError("the default of a question must be an index of its choices");
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
