import type { Random } from "../simulation/random.ts";
import type { Reference } from "./reference.ts";
import type { ModelClient, ModelThread, Mood } from "./reference-thread.ts";

/** An action of a schedule. Threads and turns have the reference's names. */
export type Act =
  | { readonly do: "connect"; readonly kind: ClientKind }
  | { readonly do: "leave" | "cut"; readonly client: string }
  | { readonly do: "jump"; readonly ms: number }
  | { readonly do: "restart" | "kill" }
  /** A client answers a request of a thread, whether or not it was sent the request. */
  | { readonly do: "answer"; readonly client: string; readonly thread: string }
  | {
      readonly do: "request";
      readonly client: string;
      readonly method: string;
      readonly params: Readonly<Record<string, unknown>>;
    };

/** Kinds of clients. They differ in their capabilities, and in how long their threads stay loaded after them. */
export const CLIENT_KINDS = [
  { transport: "stdio", delayMs: 0, capabilities: { experimentalApi: true, eventCursor: true } },
  { transport: "stdio", delayMs: 0, capabilities: {} },
  { transport: "websocket", delayMs: 1_800_000, capabilities: { experimentalApi: true, eventCursor: true } },
  { transport: "websocket", delayMs: 1_800_000, capabilities: {} },
  {
    transport: "websocket",
    delayMs: 5000,
    capabilities: { experimentalApi: true, eventCursor: true, threadUnloadDelaySecs: 5 },
  },
] as const;

export type ClientKind = (typeof CLIENT_KINDS)[number];

/** A position in a thread's feed, and the cursor that a client got for it. */
export interface Bookmark {
  readonly thread: string;
  readonly cursor: string;
  readonly feedAt: number;
}

/**
 * The next action, as numbers. Their meaning depends on what exists when the step is performed, so that a plan from
 * which a part was removed is still valid.
 */
export type Step = readonly [what: number, who: number, where: number, more: number];

export function randomPlan(random: Random, length: number): readonly Step[] {
  return Array.from({ length }, () => {
    const [what, who, where, more] = Array.from({ length: 4 }, () => random.below(1_000_000));
    return [what!, who!, where!, more!] as const;
  });
}

const MAX_CLIENTS = 4;
const MAX_THREADS = 6;
const JUMPS_MS = [500, 4000, 61_000, 1_799_000, 1_801_000] as const;
const MOODS: readonly Mood[] = ["quick", "quick", "slow", "slow", "hang", "fail", "ask", "ask"];

interface Choice {
  readonly reference: Reference;
  readonly client: ModelClient;
  readonly thread: ModelThread;
  readonly more: number;
  readonly bookmarks: readonly Bookmark[];
}

type Chooser = (choice: Choice) => Act | undefined;

function ask(method: string, params: (choice: Choice) => Record<string, unknown> = () => ({})): Chooser {
  return (choice) => ({
    do: "request",
    client: choice.client.name,
    method,
    params: { threadId: choice.thread.id, ...params(choice) },
  });
}

const input = ({ more }: Choice) => ({ input: [{ type: "text", text: `${at(MOODS, more)} ${more}` }] });

/** Usually the running turn, sometimes another one. */
function turnOf({ thread, more }: Choice): string {
  const running = thread.load?.running?.turn.id;
  if (running !== undefined && more % 5 > 0) return running;
  return at(thread.turns, more)?.id ?? "no-such-turn";
}

const resume = ask("thread/resume", ({ more }) => (more % 2 === 0 ? {} : { excludeTurns: true }));

/** Choosers occur as often as they should be picked. */
const CHOOSERS: readonly Chooser[] = [
  ({ client, reference }) =>
    reference.threads.size < MAX_THREADS
      ? { do: "request", client: client.name, method: "thread/start", params: {} }
      : undefined,
  ...Array<Chooser>(2).fill(resume),
  ...Array<Chooser>(2).fill(({ client, thread, bookmarks, more }) => {
    const known = bookmarks.filter((bookmark) => bookmark.thread === thread.id);
    const bookmark = at(known, more);
    if (bookmark === undefined || !client.experimental) return undefined;
    const params = { threadId: thread.id, afterCursor: bookmark, excludeTurns: more % 3 === 0 };
    return { do: "request", client: client.name, method: "thread/resume", params };
  }),
  ...Array<Chooser>(5).fill(ask("turn/start", input)),
  ask("turn/steer", (choice) => ({ ...input(choice), expectedTurnId: turnOf(choice) })),
  ask("turn/interrupt", (choice) => ({ turnId: turnOf(choice) })),
  ...Array<Chooser>(2).fill(ask("thread/unsubscribe")),
  ...Array<Chooser>(2).fill(
    ask("thread/unload", ({ client, more }) =>
      client.experimental && more % 2 === 0 ? { interrupt: true } : {},
    ),
  ),
  ask("thread/archive"),
  ask("thread/unarchive"),
  (choice) => (choice.more % 2 === 0 ? ask("thread/delete")(choice) : undefined),
  (choice) => {
    if (choice.reference.threads.size >= MAX_THREADS) return undefined;
    const { client, thread, more } = choice;
    const turn = at(thread.turns, more)?.id;
    const by = client.experimental && more % 2 === 0 ? "beforeTurnId" : "lastTurnId";
    const point = turn === undefined || more % 3 === 0 ? {} : { [by]: turn };
    const exclude = client.experimental && more % 4 === 0 ? { excludeTurns: true } : {};
    return ask("thread/fork", () => ({ ...point, ...exclude }))(choice);
  },
  ask("thread/name/set", ({ more }) => ({ name: `name ${more}` })),
  ask("thread/rollback", ({ more }) => ({ numTurns: 1 + (more % 3) })),
  ask("thread/revert", ({ thread, more }) => ({
    beforeTurnId: at(thread.turns, more)?.id ?? "no-such-turn",
  })),
  (choice) =>
    choice.client.experimental
      ? ask("thread/loadSettings/update", ({ more }) => ({ developerInstructions: `rules ${more}` }))(choice)
      : undefined,
  ...Array<Chooser>(3).fill(({ client, thread }) =>
    thread.load?.running?.asking ? { do: "answer", client: client.name, thread: thread.id } : undefined,
  ),
  ...Array<Chooser>(2).fill(ask("thread/read", () => ({ includeTurns: true }))),
  ({ client }) => ({ do: "request", client: client.name, method: "thread/loaded/list", params: {} }),
  ...Array<Chooser>(3).fill(({ more }) => ({ do: "jump", ms: at(JUMPS_MS, more)! })),
  ({ client }) => ({ do: "leave", client: client.name }),
  ({ client }) => ({ do: "cut", client: client.name }),
  ({ more }) => (more % 2 === 0 ? { do: "restart" } : undefined),
  ({ more }) => (more % 2 === 0 ? { do: "kill" } : undefined),
];

/** The action that a step means now; undefined if it has no meaning. */
export function choose(
  [what, who, where, more]: Step,
  reference: Reference,
  bookmarks: readonly Bookmark[],
): Act | undefined {
  const clients = [...reference.clients.values()];
  const client = at(clients, who);
  const kind = at(CLIENT_KINDS, more)!;
  if (client === undefined || (clients.length < MAX_CLIENTS && what % 12 === 0))
    return { do: "connect", kind };
  const threads = [...reference.threads.values()];
  const thread = at(threads, where);
  if (thread === undefined) {
    return { do: "request", client: client.name, method: "thread/start", params: {} };
  }
  return at(CHOOSERS, what)!({ reference, client, thread, more, bookmarks });
}

function at<T>(choices: readonly T[], number: number): T | undefined {
  return choices.length === 0 ? undefined : choices[number % choices.length];
}
