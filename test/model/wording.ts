import type { Message } from "../simulation/frame-rules.ts";
import type { Bookmark } from "./acts.ts";

interface Named {
  readonly id: string;
}

interface Turn extends Named {
  readonly status: string;
  readonly items: readonly Item[];
}

interface Item extends Named {
  readonly type: string;
  readonly text?: string;
  readonly content?: readonly { readonly text?: string }[];
}

interface ReadState {
  readonly firstUnread: { readonly type: string; readonly turnId?: string } | null;
  readonly revision: string;
}

interface Status {
  readonly type: string;
  readonly activeFlags?: readonly string[];
}

interface Thread extends Named {
  readonly status: Status;
  readonly name: string | null;
  readonly turns: readonly Turn[];
  readonly pendingLoadSettings?: { readonly developerInstructions?: string };
}

export interface Asked {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** A frame in the words of the reference. */
export interface Worded {
  readonly thread: string;
  readonly what: string;
  readonly cursor: string | undefined;
}

type Params = Readonly<Record<string, unknown>>;

/** An act's params for the reference, in which a cursor is a position in the feed. */
export function forReference(params: Params): Params {
  const bookmark = params.afterCursor as Bookmark | undefined;
  return bookmark === undefined ? params : { ...params, afterCursor: bookmark.feedAt };
}

/** Maps real IDs to the reference's names. */
export class Names {
  readonly #names = new Map<string, string>();
  readonly #ids = new Map<string, string>();
  #threads = 0;
  #turns = 0;

  thread(id: string): void {
    this.#add(id, `T${++this.#threads}`);
  }

  turn(id: string): void {
    if (!this.#names.has(id)) this.#add(id, `turn${++this.#turns}`);
  }

  of(id: string): string {
    return this.#names.get(id) ?? id;
  }

  id(name: string): string {
    return this.#ids.get(name) ?? name;
  }

  /** An act's params for the host, with real IDs and cursors instead of the reference's names. */
  real(params: Params): Record<string, unknown> {
    const real = Object.entries(params).map(([key, value]) => {
      if (key === "afterCursor") return [key, (value as Bookmark).cursor];
      return [key, key.endsWith("Id") ? this.id(value as string) : value];
    });
    return Object.fromEntries(real);
  }

  /** Learns the new IDs in a reply. Other clients see only these IDs. */
  learn({ method }: Asked, result: Record<string, unknown>): void {
    if (method === "thread/start" || method === "thread/fork") this.thread((result.thread as Named).id);
    if (method === "turn/start") this.turn((result.turn as Named).id);
  }

  #add(id: string, name: string): void {
    this.#names.set(id, name);
    this.#ids.set(name, id);
  }
}

export function worded(message: Message, asked: (id: number) => Asked, names: Names): Worded {
  if (message.method === undefined) return wordedReply(message, asked(message.id!), names);
  const params = message.params!;
  const id = (params.threadId as string | undefined) ?? (params.thread as Named | undefined)?.id ?? "";
  return {
    thread: names.of(id),
    what: notification(message.method, params, names),
    cursor: params.cursor as string | undefined,
  };
}

function notification(method: string, params: Record<string, unknown>, names: Names): string {
  switch (method) {
    case "thread/status/changed":
      return `status ${statusWords(params.status as Status)}`;
    case "thread/name/updated":
      return `name ${params.threadName as string}`;
    case "thread/readState/changed":
      return `read state ${readStateWords(params.readState as ReadState, names)}`;
    case "thread/tokenUsage/updated":
      return `usage ${(params.tokenUsage as { total: { totalTokens: number } }).total.totalTokens}`;
    case "turn/started":
      return `turn started ${names.of((params.turn as Named).id)}`;
    case "turn/completed": {
      const { id, status } = params.turn as Turn;
      return `turn ${status} ${names.of(id)}`;
    }
    case "item/started": {
      const item = params.item as Item;
      return `item started ${item.type === "agentMessage" ? "agent" : itemWords(item)}`;
    }
    case "item/completed":
      return `item completed ${itemWords(params.item as Item)}`;
    case "item/tool/requestUserInput":
      return "question";
    case "item/agentMessage/delta":
      return `text ${params.delta as string}`;
    default:
      return method.replace("thread/", "");
  }
}

function wordedReply({ result, error }: Message, { method, params }: Asked, names: Names): Worded {
  const thread = result?.thread as Thread | undefined;
  const isNew = error === undefined && (method === "thread/start" || method === "thread/fork");
  const what = error === undefined ? resultWords(method, result!, names) : `error ${error.data?.code}`;
  const about = isNew ? thread!.id : ((params.threadId as string | undefined) ?? "");
  return { thread: names.of(about), what: `reply ${what}`, cursor: undefined };
}

function resultWords(method: string, result: Record<string, unknown>, names: Names): string {
  const thread = result.thread as Thread;
  switch (method) {
    case "thread/start":
    case "thread/fork":
    case "thread/rollback":
    case "thread/resume": {
      const replay = result.replay as { gap: boolean } | undefined;
      const gap = replay === undefined ? "" : ` gap=${replay.gap}`;
      return `${statusWords(thread.status)}${gap} turns: ${turnWords(thread.turns, names)}`;
    }
    case "thread/read": {
      const pending = thread.pendingLoadSettings?.developerInstructions;
      const { name, status, turns } = thread;
      const readState = readStateWords(result.readState as ReadState, names);
      return `${statusWords(status)} name=${name} pending=${pending} read state ${readState} turns: ${turnWords(turns, names)}`;
    }
    case "thread/unarchive":
      return thread.status.type;
    case "thread/loaded/list": {
      const loaded = (result.data as string[]).map((id) => names.of(id));
      return loaded.sort((one, other) => Number(one.slice(1)) - Number(other.slice(1))).join(" ");
    }
    case "thread/loadSettings/update":
      return `pending ${(result.pending as { developerInstructions: string }).developerInstructions}`;
    case "turn/start":
      return `turn ${names.of((result.turn as Named).id)}`;
    case "turn/steer":
      return `turn ${names.of(result.turnId as string)}`;
    case "thread/unsubscribe":
      return result.status as string;
    case "thread/unload": {
      const blocked = result.blockedBy as { turnId: string | null; otherSubscribers: number } | undefined;
      if (blocked === undefined) return result.status as string;
      const turn = blocked.turnId === null ? null : names.of(blocked.turnId);
      return `${result.status as string} by ${turn} and ${blocked.otherSubscribers}`;
    }
    default:
      return "ok";
  }
}

/** The number of the change is before the first dot of the revision. */
function readStateWords({ firstUnread, revision }: ReadState, names: Names): string {
  const first = firstUnread?.turnId === undefined ? null : names.of(firstUnread.turnId);
  return `${first} #${revision.startsWith("initial:") ? 0 : revision.split(".")[0]}`;
}

export function turnWords(turns: readonly Turn[], names: Names): string {
  return turns
    .map(({ id, status, items }) => `${names.of(id)} ${status} (${items.map(itemWords).join(", ")})`)
    .join("; ");
}

function statusWords({ type, activeFlags = [] }: Status): string {
  return [type, ...activeFlags].join(":");
}

function itemWords({ type, text, content }: Item): string {
  return type === "agentMessage" ? `agent ${text}` : `user ${content?.[0]?.text}`;
}

/** Joins deltas, because how running text is split is not promised. */
export function withTextJoined(frames: readonly Worded[]): readonly Worded[] {
  const joined: Worded[] = [];
  for (const frame of frames) {
    const before = joined.at(-1);
    if (before?.what.startsWith("text ") && frame.what.startsWith("text ")) {
      joined[joined.length - 1] = { ...before, what: before.what + frame.what.slice("text ".length) };
    } else joined.push(frame);
  }
  return joined;
}
