// A test environment for tool servers: a clock that the test moves, and a host that records what is posted to it.
import {
  createToolServer,
  type LogEntry,
  memoryData,
  noAuth,
  type Platform,
  type Store,
  type ToolServer,
  type ToolServerData,
  type ToolServerOptions,
} from "@bobbin/rap";
import type { CallbackMessage } from "@bobbin/rap/wire";
import { eventually } from "./eventually.ts";

export const CALLBACK = "https://host.example.com/callback/secret-1?x=%2F";

export interface Posted {
  readonly url: string;
  readonly at: number;
  readonly headers: Headers;
  readonly message: CallbackMessage;
}

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

export interface CallOptions {
  readonly id?: string;
  readonly thread?: string;
  readonly [field: string]: unknown;
}

export class RapWorld {
  readonly posts: Posted[] = [];
  readonly logs: LogEntry[] = [];
  time = 1_000_000_000_000;
  /** The host's response to a post: a status, a response, or an error of the connection. */
  answer: (post: Posted) => number | Response | Promise<number | Response> = () => 200;
  /** The response of any other URL. */
  elsewhere: (url: string, init: RequestInit) => Response | Promise<Response> = () => {
    throw new TypeError("fetch failed", { cause: { code: "ECONNREFUSED" } });
  };
  readonly #timers = new Set<Timer>();
  #random = 0;

  readonly platform: Platform = {
    now: () => this.time,
    after: (ms, run) => {
      const timer = { at: this.time + Math.max(0, ms), run };
      this.#timers.add(timer);
      return () => this.#timers.delete(timer);
    },
    randomBytes: (length) =>
      Uint8Array.from({ length }, () => {
        this.#random = (this.#random * 1_103_515_245 + 12_345) % 2 ** 31;
        return (this.#random >> 16) & 255;
      }),
    fetch: async (url, init) => {
      if (!url.startsWith("https://host.example.com/")) return this.elsewhere(url, init);
      const message = JSON.parse(String(init.body)) as CallbackMessage;
      const post = { url, at: this.time, headers: new Headers(init.headers), message };
      this.posts.push(post);
      const answered = await this.answer(post);
      init.signal?.throwIfAborted();
      return typeof answered === "number" ? new Response(null, { status: answered }) : answered;
    },
  };

  server(options: Omit<ToolServerOptions, "name" | "auth"> & Partial<ToolServerOptions>): ToolServer {
    return createToolServer({
      name: "test",
      auth: noAuth,
      data: memoryData(),
      platform: this.platform,
      log: (entry) => this.logs.push(entry),
      ...options,
    });
  }

  /** The environment of one process. After a kill, nothing that the process began has any effect. */
  life(data: ToolServerData): {
    readonly options: Pick<ToolServerOptions, "platform" | "data">;
    kill(): void;
  } {
    let dead = false;
    const never = new Promise<never>(() => {});
    const alive = <A extends unknown[], R>(
      does: (...args: A) => Promise<R>,
    ): ((...args: A) => Promise<R>) => {
      return async (...args) => {
        if (dead) return never;
        const done = await does(...args);
        return dead ? never : done;
      };
    };
    const { store: real } = data;
    const store: Store = {
      get: alive((key) => real.get(key)),
      set: alive((key, value, options) => real.set(key, value, options)),
      delete: alive((key) => real.delete(key)),
      list: alive((prefix) => real.list(prefix)),
    };
    const platform: Platform = {
      ...this.platform,
      after: (ms, run) => this.platform.after(ms, () => dead || run()),
      fetch: alive(this.platform.fetch),
    };
    const kill = (): void => {
      dead = true;
    };
    return { options: { platform, data: { ...data, volatile: false, store } }, kill };
  }

  /** Posts to the server. */
  async post(
    server: ToolServer,
    path: string,
    body: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const request = new Request(`https://tools.example.com${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    return server.fetch(request);
  }

  /** Calls a tool. */
  call(
    server: ToolServer,
    operation: string,
    args: unknown = {},
    { id = "call_1", thread = "thread_1", headers, ...more }: CallOptions = {},
  ): Promise<Response> {
    const body = { operation, arguments: args, id, group_id: thread, callback_url: CALLBACK, ...more };
    return this.post(server, "/invoke", body, headers as Record<string, string>);
  }

  /** Calls a tool and returns its result. */
  async result(
    server: ToolServer,
    operation: string,
    args?: unknown,
    options?: CallOptions,
  ): Promise<Message> {
    const before = this.posts.length;
    const response = await this.call(server, operation, args, options);
    if (response.status !== 200) throw new Error(`the call was answered with ${response.status}`);
    return this.next("tool_result", before);
  }

  /** The first message of a type after the first `after` messages. */
  async next(type: CallbackMessage["type"], after = 0): Promise<Message> {
    const found = (): Posted | undefined =>
      this.posts.slice(after).find(({ message }) => message.type === type);
    await eventually(() => found() !== undefined, `a ${type} arrives`);
    return found()!.message as Message;
  }

  async arrived(count: number): Promise<readonly Message[]> {
    await eventually(() => this.posts.length >= count, `${count} messages arrive`);
    return this.messages();
  }

  messages(): readonly Message[] {
    return this.posts.map(({ message }) => message as Message);
  }

  texts(): readonly (string | undefined)[] {
    return this.messages().map(({ text }) => text);
  }

  /** Resolves when everything in a server waits for time or for people. */
  async quiet(): Promise<void> {
    for (let round = 0; round < 30; round++) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Moves the clock. Everything that is due on the way happens. */
  async advance(ms: number): Promise<void> {
    const end = this.time + ms;
    for (;;) {
      await this.quiet();
      const due = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.time = Math.max(this.time, due.at);
      due.run();
    }
    this.time = end;
    await this.quiet();
  }

  /** Timers that are armed. */
  get timers(): number {
    return this.#timers.size;
  }
}

/** A message with all fields of all message types. */
export interface Message {
  readonly type: CallbackMessage["type"];
  readonly group_id: string;
  readonly id?: string;
  readonly call_id?: string | null;
  readonly tool_call_id?: string;
  readonly text?: string;
  readonly content?: unknown;
  readonly display_as?: unknown;
  readonly subscription?: boolean;
  readonly associative?: boolean;
  readonly final?: boolean;
  readonly auth_url?: string;
  readonly prompt?: string;
  readonly choices?: readonly string[];
  readonly default?: number;
  readonly response_url?: string;
  readonly view_type?: string;
}
