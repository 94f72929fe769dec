import type { Bobbin, ConnectionStatus, Notification } from "@bobbin/client";
import type { Thread, ThreadSection } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import { eventually } from "../../../../test/support/eventually.ts";
import { ThreadList } from "./thread-list.ts";

type Params = Readonly<Record<string, unknown>>;

function thread(nth: number, more: Partial<Thread> = {}): Thread {
  return {
    id: `thread-${String(nth).padStart(6, "0")}`,
    name: `Number ${nth}`,
    cwd: "/work",
    status: { type: "notLoaded" },
    section: null,
    createdAt: nth,
    updatedAt: nth,
    recencyAt: nth,
    ...more,
  } as Thread;
}

/** A client of a host with these threads, the most recent first. */
function hostWith(threads: readonly Thread[]) {
  const asked: { readonly method: string; readonly params: Params }[] = [];
  const host = { threads, asked, sections: [] as ThreadSection[], whenAsked: () => {} };
  let notify = (_notification: Notification): void => {};
  let connection = (_status: ConnectionStatus): void => {};
  const answers: Readonly<Record<string, (params: Params) => object>> = {
    "thread/list"({ cursor, limit, sectionId }) {
      const all = host.threads.filter(({ section }) => (sectionId ?? null) === (section?.id ?? null));
      const from = cursor == null ? 0 : all.findIndex(({ id }) => id === cursor) + 1;
      const data = all.slice(from, from + (limit as number));
      return { data, nextCursor: from + data.length < all.length ? data.at(-1)!.id : null };
    },
    "thread/read": ({ threadId }) => ({ thread: host.threads.find(({ id }) => id === threadId) }),
    "thread/loaded/list": ({ limit }) => ({
      data: host.threads
        .map(({ id }) => id)
        .sort()
        .slice(0, limit as number | undefined),
      nextCursor: null,
    }),
    "server/diagnostics": () => ({
      threads: host.threads.map(({ id, recencyAt }) => ({ threadId: id, recencyAt })),
    }),
    "threadSection/list": () => ({ data: host.sections, nextCursor: null }),
  };
  const client = {
    async request(method: string, params: Params) {
      asked.push({ method, params });
      const answer = structuredClone(answers[method]!(params));
      host.whenAsked();
      return answer;
    },
    onNotification: (listener: typeof notify) => {
      notify = listener;
    },
    onConnection: (listener: typeof connection) => {
      connection = listener;
    },
  };
  return {
    host,
    list: new ThreadList(client as unknown as Bobbin),
    notify: (notification: object) => notify(notification as Notification),
    reconnect: () => connection({ state: "connected" } as ConnectionStatus),
  };
}

function numbers(list: ThreadList): readonly number[] {
  return list.rows.value.map(({ thread: { id } }) => Number(id.slice(-6)));
}

it("shows the most recent of many loaded threads first, and the others further down", async () => {
  // Thread 3 is old, and was used last.
  const loaded = Array.from({ length: 120 }, (_, nth) => thread(nth, { status: { type: "idle" } }));
  const { list } = hostWith(loaded.map((one, nth) => (nth === 3 ? { ...one, recencyAt: 1_000 } : one)));
  await list.setFilter({ status: "loaded" });
  expect(numbers(list).slice(0, 4)).toEqual([3, 119, 118, 117]);
  expect(numbers(list)).toHaveLength(50);
  await list.more();
  await list.more();
  await list.more();
  expect(numbers(list)).toHaveLength(120);
  expect(numbers(list).at(-1)).toBe(0);
});

it("offers the folders and owners of every thread that was read, wherever it is in the list", async () => {
  const section = { id: "work", name: "Work", appearance: null };
  const threads = Array.from({ length: 400 }, (_, nth) =>
    thread(400 - nth, { cwd: nth < 350 ? "/near" : "/far", owner: nth < 350 ? "local" : "subject:ann" }),
  );
  const pinned = thread(1_000, { cwd: "/in/a/section", section });
  const { host, list, notify } = hostWith([...threads, pinned]);
  host.sections = [section];
  await list.reload();
  expect([list.folders.value, list.owners.value]).toEqual([["/near"], ["local"]]);
  while (numbers(list).length < 400) await list.more();
  expect([list.folders.value, list.owners.value]).toEqual([
    ["/far", "/near"],
    ["local", "subject:ann"],
  ]);
  await list.sections.more("work");
  expect(list.folders.value).toEqual(["/far", "/in/a/section", "/near"]);
  notify({ method: "thread/started", params: { thread: thread(2_000, { cwd: "/new" }) } });
  expect(list.folders.value).toContain("/new");
});

describe("after a reconnect", () => {
  const threads = Array.from({ length: 1_000 }, (_, nth) => thread(1_000 - nth));

  /** A list that was read to the row 350, and its host while the connection is away. */
  async function scrolledFar() {
    const stage = hostWith(threads);
    const { list, host } = stage;
    await list.reload();
    while (numbers(list).length < 550) await list.more();
    list.sighted(list.rows.value.slice(320, 350));
    host.asked.length = 0;
    return stage;
  }

  it("reads the list as far as somebody has scrolled, and shows the old rows meanwhile", async () => {
    const { list, host, reconnect } = await scrolledFar();
    const lengths = new Set<number>();
    const stop = list.rows.subscribe((rows) => lengths.add(rows.length));
    host.threads = [thread(2_000), ...threads.filter((one) => one !== threads[5])];
    reconnect();
    await eventually(() => numbers(list)[0] === 2_000, "the list was read again");
    stop();
    expect(numbers(list).slice(0, 350)).toEqual(host.threads.slice(0, 350).map(({ createdAt }) => createdAt));
    expect(Math.min(...lengths)).toBeGreaterThanOrEqual(350);
    // Rows further down are read again when they come into sight.
    expect(host.asked.filter(({ method }) => method === "thread/list")).toHaveLength(4);
    while (numbers(list).length < 1_000) await list.more();
    expect(numbers(list)).toEqual(host.threads.map(({ createdAt }) => createdAt));
  });

  it("applies what the host sends while the list is being read", async () => {
    const { list, host, notify, reconnect } = await scrolledFar();
    host.whenAsked = () => {
      if (host.asked.filter(({ method }) => method === "thread/list").length !== 3) return;
      notify({
        method: "thread/name/updated",
        params: { threadId: threads[10]!.id, threadName: "Renamed" },
      });
      notify({ method: "thread/deleted", params: { threadId: threads[11]!.id } });
    };
    host.threads = [thread(2_000), ...threads];
    reconnect();
    await eventually(() => numbers(list)[0] === 2_000, "the list was read again");
    expect(list.rows.value.find(({ thread: { id } }) => id === threads[10]!.id)?.thread.name).toBe("Renamed");
    expect(numbers(list)).not.toContain(threads[11]!.createdAt);
  });

  it("reads as many threads of a section as were read before", async () => {
    const section = { id: "work", name: "Work", appearance: null };
    const { list, host, reconnect } = hostWith(threads.map((one) => ({ ...one, section })));
    host.sections = [section];
    await list.reload();
    for (let page = 0; page < 3; page++) await list.sections.more("work");
    const size = () => list.sections.groups.value[0]!.rows.length;
    expect(size()).toBe(150);
    reconnect();
    await eventually(() => list.sections.groups.value[0]!.next === undefined, "sections were read again");
    expect(size()).toBe(150);
    await list.sections.more("work");
    expect(size()).toBe(150);
    await list.sections.more("work");
    expect(size()).toBe(200);
  });
});

it("shows a thread once that came to the front and is read again further down", async () => {
  const { list, notify } = hostWith(Array.from({ length: 200 }, (_, nth) => thread(200 - nth)));
  await list.reload();
  notify({ method: "thread/started", params: { thread: thread(30, { parentThreadId: null }) } });
  expect(numbers(list)[0]).toBe(30);
  notify({ method: "thread/archived", params: { threadId: thread(199).id } });
  while (numbers(list).length < 199) await list.more();
  expect(numbers(list).filter((one) => one === 30)).toHaveLength(1);
  expect(new Set(numbers(list)).size).toBe(199);
});
