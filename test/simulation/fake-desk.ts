import { toolset } from "../support/tool-server.ts";
import type { FakeReply, FakeRequest, FakeServer } from "./fake-network.ts";
import type { World } from "./world.ts";

export const DESK = "http://desk.example";

/** Records what a tool server got. */
export interface DeskLedger {
  /** A message was answered with 200. */
  taken(threadId: string, callId: string, text: string): void;
  /** `/close_thread` came. */
  closeHeard(threadId: string): void;
  /** `/invoke` came. */
  invoked(threadId: string, callId: string, tool: DeskTool): void;
}

/** The tools of the desk. All calls except those of `once` may be repeated. */
export type DeskTool = keyof typeof TOOLS;

const AGAIN = { annotations: { idempotent: true } };
const TOOLS = {
  /** Has its result soon. */
  again: AGAIN,
  once: {},
  /** Gives its result after half an hour. */
  wait: AGAIN,
  /** Subscribes: one event for a child, one for the thread itself. */
  watch: AGAIN,
  /** Asks the user, and is unreachable for a while when the answer comes. */
  choose: AGAIN,
  /** Shows a view first. */
  show: AGAIN,
  /** Asks the user to visit a page first. */
  sign: AGAIN,
} as const;

/** The path that the user's choice is posted to, followed by the thread. */
const ANSWER = "/answer/";
const SLOW_RESULT_MS = 30 * 60_000;
const AWAY_MS = 90_000;
/** The delay before a retry. It doubles each time, up to a minute. */
const TRY_AGAIN_MS = 500;
const MAX_TRY_AGAIN_MS = 60_000;

interface DeskCall {
  readonly id: string;
  readonly group: string;
  /** The newest callback URL: a host that sends a call again may listen elsewhere. */
  url: string;
  awayUntil: number | undefined;
  chosen: boolean;
}

/** A tool server that outlives hosts. It repeats each message until a host has accepted or refused it. */
export class FakeDesk {
  readonly #world: World;
  readonly #ledger: DeskLedger;
  readonly #calls = new Map<string, DeskCall>();
  /** How long the tools `once`, `again`, `show` and `sign` take. */
  readonly #workMs: () => number;

  constructor(world: World, ledger: DeskLedger, workMs: () => number = () => 50) {
    this.#world = world;
    this.#ledger = ledger;
    this.#workMs = workMs;
    world.network.servers.set(DESK, this.#serve);
  }

  readonly #serve: FakeServer = async (request) => {
    if (request.path.startsWith(ANSWER)) return this.#chosen(request);
    switch (request.path) {
      case "/.well-known/rap-toolset":
        return { status: 200, json: toolset(DESK, TOOLS) };
      case "/invoke":
        return this.#invoke(request);
      case "/close_thread":
        this.#ledger.closeHeard(request.body.thread_id);
        return { status: 200 };
      default:
        return { status: 200 };
    }
  };

  #invoke({ body }: FakeRequest): FakeReply {
    const { id, group_id: group, operation, callback_url: url } = body;
    this.#ledger.invoked(group, id, operation);
    const key = `${group} ${id}`;
    const known = this.#calls.get(key);
    if (known === undefined) {
      const call: DeskCall = { id, group, url, awayUntil: undefined, chosen: false };
      this.#calls.set(key, call);
      void this.#work(call, operation);
    } else known.url = url;
    return { status: 200 };
  }

  async #work(call: DeskCall, tool: DeskTool): Promise<void> {
    const { id, group: group_id } = call;
    switch (tool) {
      case "again":
      case "once":
        await this.#sleep(this.#workMs());
        return this.#result(call);
      case "wait":
        await this.#sleep(SLOW_RESULT_MS);
        return this.#result(call);
      case "watch": {
        await this.#result(call, { subscription: true });
        const event = { type: "subscription_event", group_id, tool_call_id: id };
        await this.#deliver(call, { ...event, text: `child event of ${id}` }, `child event of ${id}`);
        const own = `own event of ${id}`;
        return this.#deliver(call, { ...event, text: own, associative: true, final: true }, own);
      }
      case "choose": {
        const prompt = `Which way, asks ${id}?`;
        const question = {
          prompt,
          choices: ["left", "right"],
          default: 0,
          response_url: `${DESK}${ANSWER}${group_id}`,
        };
        return this.#deliver(call, { type: "user_choice", group_id, id, ...question }, prompt);
      }
      case "show": {
        const content = { says: `view of ${id}` };
        await this.#deliver(call, { type: "view_update", group_id, view_type: "v", content }, content.says);
        return this.#result(call);
      }
      case "sign":
        await this.#deliver(
          call,
          { type: "oauth", group_id, id, auth_url: "https://sign.example/in" },
          `"callId":"${id}","aside":{"kind":"oauth"}`,
        );
        await this.#sleep(this.#workMs());
        return this.#result(call);
    }
  }

  #chosen({ path, body }: FakeRequest): FakeReply | undefined {
    const { random, scheduler } = this.#world;
    const call = this.#calls.get(`${path.slice(ANSWER.length)} ${body.id}`);
    if (call === undefined) return { status: 404 };
    call.awayUntil ??= scheduler.elapsed + AWAY_MS;
    if (scheduler.elapsed < call.awayUntil) return random.pick([undefined, { status: 503 }]);
    if (!call.chosen) void this.#result(call);
    call.chosen = true;
    return { status: 200 };
  }

  #result(call: DeskCall, more: object = {}): Promise<void> {
    const { id, group: group_id } = call;
    const text = `result of ${id}`;
    return this.#deliver(call, { type: "tool_result", group_id, id, text, ...more }, text);
  }

  /** Repeats a message until a host has accepted or refused it. */
  async #deliver(call: DeskCall, message: object, marker: string): Promise<void> {
    const headers = { "idempotency-key": marker.replaceAll(/[^\w-]/g, "_") };
    for (let delay = TRY_AGAIN_MS; ; delay = Math.min(2 * delay, MAX_TRY_AGAIN_MS)) {
      const answer = await this.#world.network.post(call.url, message, headers);
      if (answer?.status === 200) this.#ledger.taken(call.group, call.id, marker);
      if (answer !== undefined && answer.status < 500) return;
      await this.#sleep(delay);
    }
  }

  #sleep(ms: number): Promise<void> {
    return this.#world.sleep(ms, "desk");
  }
}
