import type { FuzzyFileSearchResult } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import { eventually, eventuallyPasses } from "../../../../test/support/eventually.ts";
import { Supervisor } from "../observe/supervise.ts";
import type { MessageWorkerEvents, Platform } from "../platform/platform.ts";
import type { SearchNews, SearchOrder } from "../search/file-search-scheduler.ts";
import type { Connection } from "./connection.ts";
import { FileSearches } from "./file-searches.ts";

const ROOTS = Promise.resolve({ roots: [{ name: "/w", path: "/w" }], places: null });
const FILE: FuzzyFileSearchResult = {
  root: "/w",
  path: "a",
  match_type: "file",
  file_name: "a",
  score: 1,
  indices: [0],
};

/** File searches with a worker thread whose messages the test sends. */
function stage() {
  const orders: SearchOrder[] = [];
  const sent: string[] = [];
  const found: FuzzyFileSearchResult[][] = [];
  const timers: { ms: number; run: () => void; cancelled: boolean }[] = [];
  let events: MessageWorkerEvents | undefined;
  let closed = 0;
  const platform = {
    timers: {
      after(ms: number, run: () => void) {
        const timer = { ms, run, cancelled: false };
        timers.push(timer);
        return () => {
          timer.cancelled = true;
        };
      },
    },
    messageWorker: (_name: string, given: MessageWorkerEvents) => {
      events = given;
      return {
        post: (order: unknown) => orders.push(order as SearchOrder),
        close: async () => {
          closed++;
        },
      };
    },
  } as unknown as Platform;
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const connect = (state = "ready") =>
    ({
      state,
      room: () => undefined,
      notify: (method: string, { query, files }: { query?: string; files?: FuzzyFileSearchResult[] }) => {
        sent.push([method.slice("fuzzyFileSearch/session".length), query].filter(Boolean).join(" "));
        if (files !== undefined) found.push(files);
      },
    }) as unknown as Connection;
  const searches = new FileSearches({ platform, supervisor: new Supervisor(log), log });
  const find = (query: string, isComplete: boolean, id = 1): void =>
    events!.received({ id, query, files: [FILE], isComplete } satisfies SearchNews);
  return {
    searches,
    connection: connect(),
    connect,
    orders,
    sent,
    found,
    find,
    die: () => events!.gone(new Error("died")),
    rest: () => timers.filter(({ cancelled }) => !cancelled).map(({ ms, run }) => [ms, run()][0]),
    closes: () => closed,
  };
}

describe("a session", () => {
  it("[SEARCH-7] is sent nothing of an earlier query, and nothing after its end", async () => {
    const { searches, connection, sent, find } = stage();
    await searches.start(connection, "s", ROOTS);
    await searches.update(connection, "s", "a");
    await searches.update(connection, "s", "b");
    find("a", true);
    expect(sent).toEqual([]);
    find("b", false);
    find("b", true);
    expect(sent).toEqual(["Updated b", "Updated b", "Completed"]);
    searches.stop(connection, "s");
    find("b", true);
    expect(sent).toHaveLength(3);
  });

  it("[SEARCH-8] completes with what there is if the thread dies, and goes on with its next query", async () => {
    const { searches, connection, sent, find, orders, die } = stage();
    await searches.start(connection, "s", ROOTS);
    await searches.update(connection, "s", "a");
    const single = searches.search(connection, { query: "a", token: undefined }, ROOTS);
    await ROOTS;
    await Promise.resolve();
    die();
    await expect(single).rejects.toMatchObject({ code: "searchFailed" });
    expect(sent).toEqual(["Updated a", "Completed"]);
    await searches.update(connection, "s", "b");
    expect(orders.at(-1)).toMatchObject({ kind: "search", query: "b", roots: { roots: [{ path: "/w" }] } });
    find("b", true);
    expect(sent.slice(2)).toEqual(["Updated b", "Completed"]);
    // A session that has ended does not change.
    die();
    expect(sent).toHaveLength(4);
  });

  it("[SEARCH-8] shows what it had found when the thread dies", async () => {
    const { searches, connection, found, find, die } = stage();
    await searches.start(connection, "s", ROOTS);
    await searches.update(connection, "s", "a");
    find("a", false);
    die();
    expect(found).toEqual([[FILE], [FILE]]);
  });

  it("[SEARCH-7] is refused to a client that has left", async () => {
    const { searches, connect, orders } = stage();
    const gone = connect("closed");
    await expect(searches.start(gone, "s", ROOTS)).rejects.toMatchObject({ code: "shuttingDown" });
    expect(orders).toEqual([]);
  });
});

describe("a token", () => {
  it("[SEARCH-6] ends the search that had it before, which replies with what it has found", async () => {
    const { searches, connection, connect, find, orders } = stage();
    const other = connect();
    const ask = (of: Connection, token: string) => searches.search(of, { query: "a", token }, ROOTS);
    const first = ask(connection, "t");
    const another = ask(connection, "u");
    const theirs = ask(other, "t");
    await eventually(() => orders.length === 3, "three searches are ordered");
    find("a", false, 1);
    const second = ask(connection, "t");
    expect(await first).toEqual([FILE]);
    await eventuallyPasses(() => expect(orders.at(-1)).toMatchObject({ kind: "search", id: 4 }));
    // The search itself ends, too, and no other one.
    expect(orders.filter(({ kind }) => kind === "end")).toEqual([{ kind: "end", id: 1 }]);
    for (const id of [2, 3, 4]) find("a", true, id);
    expect(await Promise.all([another, theirs, second])).toEqual([[FILE], [FILE], [FILE]]);
  });
});

describe("the thread", () => {
  it("[SEARCH-8] ends ten seconds after the last search, and is there for the next one", async () => {
    const { searches, connection, find, orders, rest, closes } = stage();
    const first = searches.search(connection, { query: "a", token: "t" }, ROOTS);
    await eventually(() => orders.length === 1, "a search is ordered");
    // Nothing ends it while a search is under way.
    expect(rest()).toEqual([]);
    find("a", true);
    expect(await first).toEqual([FILE]);
    expect(rest()).toEqual([10_000]);
    await eventually(() => closes() === 1, "the thread is closed");
    const next = searches.search(connection, { query: "b", token: "t" }, ROOTS);
    await eventuallyPasses(() => expect(orders.at(-1)).toMatchObject({ kind: "search", id: 2 }));
    searches.left(connection);
    expect(await next).toEqual([]);
    await searches.close();
    await expect(searches.search(connection, { query: "c", token: "t" }, ROOTS)).rejects.toMatchObject({
      code: "shuttingDown",
    });
  });
});
