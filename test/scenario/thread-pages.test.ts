// Lists and pages: thread/list, thread/search, thread/loaded/list, thread/turns/list, thread/items/list.
import { beforeAll, describe, expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import type { Received, WireClient } from "../support/wire-client.ts";

const TURNS = 27;
const NOBODY = "01a1e0d3-0000-7000-8000-000000000000";

let host: HostProcess;
let client: WireClient;
let folders: string[];
/** In the order of their creation. */
const threads: string[] = [];
let long: string;
const turns: string[] = [];

beforeAll(async () => {
  host = await spawnHost({ args: ["--listen", "ws://127.0.0.1:0"] });
  client = await host.join(undefined, { experimentalApi: true });
  folders = [await freshFolder("a"), await freshFolder("b")];
  for (let at = 0; at < 7; at++) {
    const threadId = await client.startThread({ cwd: folders[at % 2] });
    await client.turn(threadId, `thread number ${at} about ${at % 2 === 0 ? "apples" : "pears"}`);
    threads.push(threadId);
  }
  // The order of the last turns is another one than that of the creations.
  await client.turn(threads[2]!, "once more, with zebras");
  long = await client.startThread({ cwd: "/" });
  for (let at = 0; at < TURNS; at++) turns.push(await client.turn(long, `question ${at}`));
});

type Page = { data: Received["result"][]; nextCursor: string | null; backwardsCursor: string | null };
const ids = ({ data }: Page): string[] => data.map(({ id }) => id);
const list = (params: object = {}): Promise<Page> =>
  client.call("thread/list", { limit: 100, cwd: folders, ...params });

/** All pages, first to last. */
async function paged(method: string, params: object): Promise<Page["data"][]> {
  const pages: Page["data"][] = [];
  let cursor: string | null = null;
  do {
    const page: Page = await client.call(method, { ...params, ...(cursor !== null && { cursor }) });
    pages.push(page.data);
    cursor = page.nextCursor;
    expect(pages.length).toBeLessThan(200);
  } while (cursor !== null);
  return pages;
}

describe("thread/list", () => {
  const orders: [string, number[]][] = [
    ["created_at", [6, 5, 4, 3, 2, 1, 0]],
    ["updated_at", [2, 6, 5, 4, 3, 1, 0]],
    ["recency_at", [2, 6, 5, 4, 3, 1, 0]],
  ];

  it.each(orders)(
    "[LIST-1] [LIST-2] sorts by %s both ways, and pages give each thread exactly once",
    async (sortKey, order) => {
      const newestFirst = order.map((at) => threads[at]!);
      expect(ids(await list({ sortKey }))).toEqual(newestFirst);
      for (const limit of [1, 2, 3, 7]) {
        for (const sortDirection of ["desc", "asc"]) {
          const pages = await paged("thread/list", { cwd: folders, sortKey, sortDirection, limit });
          expect(pages.length).toBe(Math.ceil(7 / limit));
          const found = pages.flat().map(({ id }) => id);
          expect(found).toEqual(sortDirection === "desc" ? newestFirst : newestFirst.toReversed());
        }
      }
    },
  );

  it("[LIST-3] goes back from a page, beginning with its first thread", async () => {
    const first = await list({ limit: 2 });
    const second = await list({ limit: 2, cursor: first.nextCursor });
    const back = await list({ limit: 10, cursor: second.backwardsCursor, sortDirection: "asc" });
    expect(ids(back)).toEqual([ids(second)[0], ...ids(first).toReversed()]);
    const newer = await list({ cursor: first.backwardsCursor, sortDirection: "asc" });
    expect(ids(newer)).toEqual([threads[6]]);
    const late = await client.startThread({ cwd: folders[0] });
    await client.turn(late, "late");
    const found = await list({ cursor: first.backwardsCursor, sortDirection: "asc" });
    expect(ids(found)).toEqual([threads[6], late]);
    await client.call("thread/delete", { threadId: late });
  });

  it("[LIST-4] filters by folder, provider, source, archive, text and family", async () => {
    expect(ids(await list({ cwd: folders[0] }))).toEqual([6, 4, 2, 0].map((at) => threads[at]));
    expect(ids(await list({ cwd: [folders[1]] }))).toEqual([5, 3, 1].map((at) => threads[at]));
    expect(ids(await list({ cwd: [] }))).toEqual([]);
    expect(ids(await list({ modelProviders: ["offline", "x"] }))).toHaveLength(7);
    expect(ids(await list({ modelProviders: ["x"] }))).toEqual([]);
    expect(ids(await list({ modelProviders: [] }))).toHaveLength(7);
    expect(ids(await list({ sourceKinds: ["vscode"] }))).toHaveLength(7);
    expect(ids(await list({ sourceKinds: [] }))).toHaveLength(7);
    expect(ids(await list({ sourceKinds: ["cli", "exec"] }))).toEqual([]);
    expect(ids(await list({ archived: true }))).toEqual([]);
    expect(ids(await list({ searchTerm: "number 3" }))).toEqual([threads[3]]);
    await client.call("thread/name/set", { threadId: threads[1], name: "The Quartet" });
    expect(ids(await list({ searchTerm: "Quartet" }))).toEqual([threads[1]]);
    expect(ids(await list({ searchTerm: "%" }))).toEqual([]);
    expect(ids(await list({ parentThreadId: threads[0] }))).toEqual([]);
    expect(ids(await list({ ancestorThreadId: threads[0] }))).toEqual([]);
    expect(ids(await list({ useStateDbOnly: true }))).toHaveLength(7);
    expect(
      (await client.refusal("thread/list", { parentThreadId: NOBODY, ancestorThreadId: NOBODY })).message,
    ).toBe("parentThreadId and ancestorThreadId are mutually exclusive");
  });

  it.each([
    {},
    { parentThreadId: NOBODY },
    { ancestorThreadId: NOBODY },
    { sortKey: "section_position" },
    { parentThreadId: NOBODY, sortKey: "section_position", sortDirection: "asc" },
    { parentThreadId: NOBODY, searchTerm: "apples", archived: true },
  ])("[LIST-4] is empty for a section that does not exist (with %j)", async (filter) => {
    const params = { sectionId: "nope", ...filter };
    const nothing = { data: [], nextCursor: null, backwardsCursor: null, readStates: {} };
    expect(await client.call("thread/list", params)).toEqual(nothing);
    // As in a list of a parent that exists.
    if (filter.parentThreadId !== undefined)
      expect(await client.call("thread/list", { ...params, parentThreadId: threads[0] })).toEqual(nothing);
  });

  it("[LIST-5] has a limit, refuses an invalid cursor, and shows each thread's current state", async () => {
    expect(ids(await list({ limit: 0 }))).toHaveLength(1);
    expect((await client.call("thread/list", { limit: 100_000 })).data.length).toBeLessThanOrEqual(100);
    for (const cursor of ["bad", "", (await list({ sortKey: "updated_at", limit: 1 })).nextCursor]) {
      const { message, data } = await client.refusal("thread/list", { cursor });
      expect([message, data.code]).toEqual([`invalid cursor: ${cursor}`, "invalidCursor"]);
    }
    const threadId = threads[5]!;
    const shown = async (): Promise<object> => (await list()).data.find(({ id }) => id === threadId);
    expect(await shown()).toMatchObject({ status: { type: "idle" }, turns: [], cwd: folders[1] });
    const turnId = await client.speaking(threadId);
    expect(await shown()).toMatchObject({ status: { type: "active" } });
    await client.call("turn/interrupt", { threadId, turnId });
    await client.turnCompleted(turnId);
    await client.call("thread/unload", { threadId });
    expect(await shown()).toMatchObject({ status: { type: "notLoaded" } });
    const { thread } = await client.call("thread/read", { threadId });
    expect(await shown()).toEqual(thread);
  });

  it("[LIST-6] is the same after a restart of the host", async () => {
    const before = await list();
    const loaded = await client.call("thread/loaded/list");
    expect(loaded.data).not.toEqual([]);
    const other = await spawnHost({ home: host.home, args: ["--stdio"] });
    const second = other.stdio();
    await second.initialize({ experimentalApi: true });
    const after: Page = await second.call("thread/list", { limit: 100, cwd: folders });
    const still = (page: Page): object[] =>
      page.data.map((thread) => ({
        ...thread,
        // The first host has them loaded, which the second one says.
        heldBy: null,
        status: null,
        environments: null,
        canAcceptDirectInput: null,
      }));
    expect(still(after)).toEqual(still(before));
    second.end();
    await other.exited;
  });
});

describe("thread/search", () => {
  it("[LIST-7] finds messages, in pages, with a snippet", async () => {
    const search = (searchTerm: string, more: object = {}): Promise<Page> =>
      client.call("thread/search", { searchTerm, ...more });
    const zebras = await search("zebras");
    expect(zebras.data.map(({ thread }) => thread.id)).toEqual([threads[2]]);
    expect(zebras.data[0].snippet).toContain("zebras");
    expect((await search("apples", { limit: 100 })).data.map(({ thread }) => thread.id)).toEqual(
      [6, 4, 2, 0].map((at) => threads[at]),
    );
    const pages = await paged("thread/search", { searchTerm: "apples", limit: 3 });
    expect(pages.map((page) => page.length)).toEqual([3, 1]);
    expect((await search('"nothing" OR *')).data).toEqual([]);
    // What clients have put into it was said in it, too.
    await client.call("thread/resume", { threadId: threads[2], excludeTurns: true });
    const message = (role: string, text: string) => ({
      type: "message",
      role,
      content: [{ type: role === "assistant" ? "output_text" : "input_text", text }],
    });
    const items = [
      message("user", "an okapi"),
      message("assistant", "a quagga"),
      message("developer", "a dodo"),
    ];
    await client.call("thread/inject_items", { threadId: threads[2], items });
    for (const [word, count] of [
      ["okapi", 1],
      ["quagga", 1],
      ["dodo", 0],
    ] as const) {
      expect((await search(word)).data, word).toHaveLength(count);
    }
    // What was rolled back is not found any more.
    await client.call("thread/rollback", { threadId: threads[2], numTurns: 1 });
    expect((await search("zebras")).data).toEqual([]);
    expect((await search("okapi")).data).toEqual([]);
  });
});

describe("thread/loaded/list", () => {
  it("[LIST-8] lists loaded threads, in pages", async () => {
    const { data, nextCursor } = await client.call("thread/loaded/list");
    expect(nextCursor).toBeNull();
    expect(data).toEqual([...new Set<string>(data)].toSorted((one, other) => (one < other ? -1 : 1)));
    expect(data).toContain(long);
    const pages = await paged("thread/loaded/list", { limit: 3 });
    expect(pages.flat()).toEqual(data);
    expect((await client.call("thread/loaded/list", { limit: 0 })).data).toEqual(data.slice(0, 1));
    expect((await client.call("thread/loaded/list", { cursor: NOBODY })).data).toEqual(data);
    expect((await client.refusal("thread/loaded/list", { cursor: "bad" })).data.code).toMatch(/invalid/);
  });
});

// Loaded or not makes no difference to a reader.
describe.each(["loaded", "not loaded"])("a thread that is %s", (state) => {
  beforeAll(async () => {
    const method = state === "loaded" ? "thread/resume" : "thread/unload";
    await client.call(method, { threadId: long });
  });

  it("[LIST-9] gives its turns in pages, each exactly once, both ways", async () => {
    for (const limit of [1, 4, 50]) {
      for (const sortDirection of ["desc", "asc"]) {
        const pages = await paged("thread/turns/list", { threadId: long, limit, sortDirection });
        expect(pages.length).toBe(Math.ceil(TURNS / limit));
        const found = pages.flat().map(({ id }) => id);
        expect(found).toEqual(sortDirection === "asc" ? turns : turns.toReversed());
      }
    }
    const middle = await client.call("thread/turns/list", { threadId: long, limit: 3 });
    const next = await client.call("thread/turns/list", {
      threadId: long,
      limit: 3,
      cursor: middle.nextCursor,
    });
    const back = await client.call("thread/turns/list", {
      threadId: long,
      cursor: next.backwardsCursor,
      sortDirection: "asc",
    });
    expect(ids(back)).toEqual(turns.slice(-4));
  });

  it("[LIST-10] shows as much of each turn as was asked for", async () => {
    const view = async (itemsView?: string): Promise<Received["result"]> =>
      (await client.call("thread/turns/list", { threadId: long, limit: 1, itemsView })).data[0];
    expect(await view()).toMatchObject({
      itemsView: "summary",
      items: [{ type: "userMessage" }, { type: "agentMessage" }],
    });
    expect(await view("notLoaded")).toMatchObject({ itemsView: "notLoaded", items: [] });
    expect((await view("full")).items).toHaveLength(2);
  });

  it("[LIST-11] gives its items in pages, each exactly once, both ways, or those of one turn", async () => {
    const all = (await paged("thread/items/list", { threadId: long, limit: 100 })).flat();
    expect(all.map(({ turnId }) => turnId)).toEqual(turns.flatMap((id) => [id, id]));
    expect(new Set(all.map(({ item }) => item.id)).size).toBe(2 * TURNS);
    for (const limit of [1, 5]) {
      for (const sortDirection of ["asc", "desc"]) {
        const pages = await paged("thread/items/list", { threadId: long, limit, sortDirection });
        expect(pages.flat()).toEqual(sortDirection === "asc" ? all : all.toReversed());
      }
    }
    const one = await client.call("thread/items/list", { threadId: long, turnId: turns[3] });
    expect(one.data).toEqual(all.slice(6, 8));
    expect(await client.call("thread/items/list", { threadId: long, turnId: "bad" })).toEqual({
      data: [],
      nextCursor: null,
      backwardsCursor: null,
    });
    const cursor = { type: "item", itemId: all[9].item.id };
    const around = await client.call("thread/items/list", { threadId: long, cursor, limit: 2 });
    expect(around.data).toEqual(all.slice(9, 11));
    for (const method of ["thread/items/list", "thread/turns/list"]) {
      // The last one is of an earlier program: it named bytes of a file.
      for (const bad of ["bad", "1.2-3.0.4-5i", "100.0.1234i"]) {
        const { message, data } = await client.refusal(method, { threadId: long, cursor: bad });
        expect([message, data.code]).toEqual([`invalid cursor: ${bad}`, "invalidCursor"]);
      }
    }
  });

  it("[LIST-13] treats a cursor of another thread as the nearest position before it", async () => {
    for (const method of ["thread/items/list", "thread/turns/list"]) {
      for (const sortDirection of ["asc", "desc"]) {
        const at = (cursor: string) => client.call(method, { threadId: long, cursor, sortDirection });
        // Behind the end, and with hints that fit no commit.
        const beyond = await at("2.999999999999999-0.0.999999999999999-0i");
        expect(beyond.data.length > 0).toBe(sortDirection === "desc");
        await at("2.3-100.0.4-1234");
      }
    }
    expect(host.stderr).not.toMatch(/no commit/);
  });
});

describe("an ephemeral thread", () => {
  it("[LIST-13] treats a cursor beyond its end as its end", async () => {
    const threadId = await client.startThread({ ephemeral: true });
    const turnId = await client.turn(threadId, "hello");
    const page = await client.call("thread/turns/list", { threadId, cursor: "2.99999-0.0.99999-0i" });
    expect(ids(page)).toEqual([turnId]);
  });
});

describe("a page that is being read", () => {
  it("[LIST-12] is not disturbed by turns that come and go meanwhile", async () => {
    const threadId = await client.startThread();
    const made: string[] = [];
    for (let at = 0; at < 6; at++) made.push(await client.turn(threadId, `t${at}`));
    const first = await client.call("thread/turns/list", { threadId, limit: 2 });
    made.push(await client.turn(threadId, "meanwhile"));
    const running = await client.speaking(threadId);
    const second = await client.call("thread/turns/list", { threadId, limit: 2, cursor: first.nextCursor });
    expect([...ids(first), ...ids(second)]).toEqual(made.slice(2, 6).toReversed());
    const newest = await client.call("thread/turns/list", { threadId, limit: 2 });
    expect(ids(newest)).toEqual([running, made[6]]);
    expect(newest.data[0].status).toBe("inProgress");
    const later = await client.call("thread/turns/list", {
      threadId,
      cursor: first.backwardsCursor,
      sortDirection: "asc",
    });
    expect(ids(later)).toEqual([made[5], made[6], running]);
    await client.call("turn/interrupt", { threadId, turnId: running });
  });
});
