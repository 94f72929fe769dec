// thread/searchOccurrences: where a text is said in one thread.
import { describe, expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import { MockModel, type Reply, responses, silent, stream } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import type { WireClient } from "../support/wire-client.ts";

const EXPERIMENTAL = { experimentalApi: true };
const NOBODY = "01a1e0d3-0000-7000-8000-000000000000";
const METHOD = "thread/searchOccurrences";

interface Found {
  readonly turnId: string;
  readonly itemId: string;
  readonly snippet: string;
  readonly snippetMatchRange: { readonly start: number; readonly end: number };
  readonly turnCursor: string;
}

const search = async (client: WireClient, threadId: string, searchTerm: string): Promise<readonly Found[]> =>
  (await client.call(METHOD, { threadId, searchTerm })).data;
const snippets = async (client: WireClient, threadId: string, searchTerm: string): Promise<string[]> =>
  (await search(client, threadId, searchTerm)).map(({ snippet }) => snippet);
/** What a search stands at, as it is written. */
const matched = ({ snippet, snippetMatchRange: { start, end } }: Found): string => snippet.slice(start, end);

describe.each(["stdio", "websocket"] as const)("occurrences in a thread, on %s", (transport) => {
  async function join(home?: string): Promise<{ host: HostProcess; client: WireClient; other: WireClient }> {
    const args = ["--listen", "ws://127.0.0.1:0", "--stdio"];
    const host = await spawnHost({ args, ...(home !== undefined && { home }) });
    const [socket, stdio] = [await host.join(undefined, EXPERIMENTAL), host.stdio()];
    await stdio.initialize(EXPERIMENTAL);
    return transport === "stdio"
      ? { host, client: stdio, other: socket }
      : { host, client: socket, other: stdio };
  }

  /** A host whose model gives these answers, and a thread. */
  async function stage(...replies: Reply[]) {
    const model = await MockModel.start(...replies);
    const { home, cwd } = await modelHome("responses", model.url);
    const { client, other } = await join(home);
    return { model, client, other, threadId: await client.startThread({ cwd }) };
  }

  const says = (...messages: [text: string, phase?: string][]): Reply =>
    stream(
      responses.stream(...messages.map(([text, phase], at) => responses.message(text, `msg_${at}`, phase))),
    );

  it("[LIST-15] are found in the displayed text of messages and answers, in their order", async () => {
    const { model, client, other, threadId } = await stage(
      says(
        ["a commenting needle", "commentary"],
        ["half a needle", "partial_answer"],
        ["nee**dle** `Needle`", "final_answer"],
      ),
    );
    const input = [
      { type: "text", text: "context of needle\n## My request for Codex:\n find the Nee" },
      { type: "text", text: "dle " },
    ];
    const { turn } = await client.call("turn/start", { threadId, input });
    await client.turnCompleted(turn.id);
    model.reply(says(["no such word"]));
    const second = await client.turn(threadId, "the second NEEDLE");
    for (const one of [client, other]) {
      const found = await search(one, threadId, "neEdle");
      expect(found.map((each) => [each.turnId, each.snippet, matched(each)])).toEqual([
        [turn.id, "find the Needle", "Needle"],
        [turn.id, "half a needle", "needle"],
        [turn.id, "needle Needle", "needle"],
        [turn.id, "needle Needle", "Needle"],
        [second, "the second NEEDLE", "NEEDLE"],
      ]);
      const items = (await one.call("thread/items/list", { threadId })).data;
      const texts = found.map(({ itemId }) =>
        items.find((entry: { item: { id: string } }) => entry.item.id === itemId),
      );
      expect(texts.map(({ item }) => item.type)).toEqual([
        "userMessage",
        "agentMessage",
        "agentMessage",
        "agentMessage",
        "userMessage",
      ]);
    }
    expect(await search(client, threadId, "commenting")).toEqual([]);
    expect(await search(client, threadId, "context of")).toEqual([]);
  });

  it("[LIST-15] lead to their turns by a cursor of thread/turns/list, both ways", async () => {
    const { client, other } = await join();
    const threadId = await client.startThread();
    const turns: string[] = [];
    for (const word of ["apple", "pear", "plum", "cherry"])
      turns.push(await client.turn(threadId, `A ${word}, please`));
    for (const [at, word] of ["apple", "pear", "plum", "cherry"].entries()) {
      const found = await search(other, threadId, `${word}, please`);
      expect(found.length).toBeGreaterThan(0);
      for (const { turnId, turnCursor: cursor } of found) {
        expect(turnId).toBe(turns[at]);
        const list = async (sortDirection: string) =>
          (await other.call("thread/turns/list", { threadId, cursor, sortDirection })).data.map(
            ({ id }: { id: string }) => id,
          );
        expect(await list("asc")).toEqual(turns.slice(at));
        expect(await list("desc")).toEqual(turns.slice(0, at + 1).toReversed());
      }
    }
    for (const cursor of ["@", "@x", "@1.2", "@-1"])
      expect((await client.refusal("thread/turns/list", { threadId, cursor })).data.code).toBe(
        "invalidCursor",
      );
    const fresh = await client.startThread();
    expect((await client.refusal("thread/turns/list", { threadId: fresh, cursor: "@1" })).data.code).toBe(
      "invalidCursor",
    );
  });

  it("[LIST-16] come in pages, and a cursor is good for one search alone", async () => {
    const { model, client, other, threadId } = await stage(says(["x and x and x"]));
    await client.turn(threadId, "x marks the x");
    model.reply(says(["more x"]));
    await client.turn(threadId, "again x");
    const all = await search(client, threadId, "x");
    expect(all).toHaveLength(7);
    for (const limit of [1, 2, 3, 7, 250]) {
      const found: Found[] = [];
      let cursor: string | null = null;
      do {
        const page: { data: Found[]; nextCursor: string | null } = await client.call(METHOD, {
          threadId,
          searchTerm: "x",
          limit,
          cursor,
        });
        expect(page.data.length).toBeLessThanOrEqual(limit);
        found.push(...page.data);
        cursor = page.nextCursor;
      } while (cursor !== null);
      expect(found).toEqual(all);
    }
    const first = await client.call(METHOD, { threadId, searchTerm: "x", limit: 0 });
    expect(first.data).toEqual(all.slice(0, 1));
    const cursor = first.nextCursor;
    const elsewhere = await other.startThread();
    for (const params of [
      { threadId, searchTerm: "X", cursor },
      { threadId, searchTerm: "other", cursor },
      { threadId: elsewhere, searchTerm: "x", cursor },
      { threadId, searchTerm: "x", cursor: "bad" },
      { threadId, searchTerm: "x", cursor: "" },
    ])
      expect(await client.refusal(METHOD, params)).toMatchObject({
        code: -32600,
        data: { code: "invalidCursor" },
      });
  });

  it("[LIST-15] are those of turns that were not dropped, also in forks, in the archive and after a restart", async () => {
    const home = await freshFolder("home");
    const { host, client, other } = await join(home);
    const threadId = await client.startThread();
    await client.turn(threadId, "a zebra");
    const dropped = await client.turn(threadId, "another zebra");
    const mine = async (who: WireClient, id = threadId) =>
      (await snippets(who, id, "zebra")).filter((snippet) => !snippet.includes("You said"));
    expect(await mine(client)).toEqual(["a zebra", "another zebra"]);
    const { thread: fork } = await other.call("thread/fork", { threadId });
    await client.call("thread/revert", { threadId, beforeTurnId: dropped });
    expect(await mine(other)).toEqual(["a zebra"]);
    expect(await mine(other, fork.id)).toEqual(["a zebra", "another zebra"]);
    await client.call("thread/archive", { threadId });
    expect(await mine(client)).toEqual(["a zebra"]);
    await host.kill();
    const { client: next } = await join(home);
    expect(await mine(next)).toEqual(["a zebra"]);
    expect(await mine(next, fork.id)).toEqual(["a zebra", "another zebra"]);
  });

  it("[LIST-15] are not in the answer of a turn that runs, until it has ended", async () => {
    const begun = responses.message("the answer is needle").slice(0, -1);
    const { client, threadId } = await stage(
      silent(responses.stream(begun).split("event: response.completed")[0]!),
    );
    const turnId = await client.say(threadId, "where is it?");
    await client.about(threadId, "item/agentMessage/delta");
    expect(await search(client, threadId, "needle")).toEqual([]);
    expect(await snippets(client, threadId, "where")).toEqual(["where is it?"]);
    await client.call("turn/interrupt", { threadId, turnId });
    await client.turnCompleted(turnId);
    expect(await search(client, threadId, "needle")).toHaveLength(1);
  });

  it("[LIST-15] are refused without a search text, and in ephemeral threads", async () => {
    const { client } = await join();
    const threadId = await client.startThread();
    expect(await client.call(METHOD, { threadId, searchTerm: "x" })).toEqual({ data: [], nextCursor: null });
    expect(await client.refusal(METHOD, { threadId, searchTerm: " \n" })).toEqual({
      code: -32600,
      message: "thread/searchOccurrences requires a non-empty searchTerm",
      data: { code: "searchTermEmpty", retryable: false },
    });
    const long = await client.refusal(METHOD, { threadId, searchTerm: "x".repeat(10_001) });
    expect(long).toMatchObject({ code: -32602, data: { code: "searchTermTooLong" } });
    expect((await client.refusal(METHOD, { threadId: NOBODY, searchTerm: "x" })).data.code).toBe(
      "threadNotLoaded",
    );
    const ephemeral = await client.startThread({ ephemeral: true });
    expect((await client.refusal(METHOD, { threadId: ephemeral, searchTerm: "x" })).data.code).toBe(
      "ephemeralSearch",
    );
  });
});

it("[LIST-17] lets other requests go on while it searches a long thread", async () => {
  const words = "Some **words** with `code`, and a [link](https://example.org) to read. ".repeat(3500);
  const content = [{ type: "output_text", text: words }];
  const parts = Array.from({ length: 10 }, (_, at) => ({
    type: "response.output_item.done",
    output_index: at,
    item: { type: "message", id: `msg_${at}`, role: "assistant", phase: "partial_answer", content },
  }));
  const model = await MockModel.start(stream(responses.stream(parts)));
  const { home, cwd } = await modelHome("responses", model.url);
  const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"] });
  const client = await host.join(undefined, EXPERIMENTAL);
  const other = await host.join(undefined, EXPERIMENTAL);
  const threadId = await client.startThread({ cwd });
  const elsewhere = await other.startThread({ cwd });
  await client.turn(threadId, "go on");
  let isOver = false;
  const searched = client.call(METHOD, { threadId, searchTerm: "nowhere to be found" }).finally(() => {
    isOver = true;
  });
  for (let times = 0; times < 3; times++) {
    await other.call("thread/name/set", { threadId: elsewhere, name: `name ${times}` });
    await other.call("thread/list", {});
  }
  expect(isOver).toBe(false);
  expect(await searched).toEqual({ data: [], nextCursor: null });
  const found = await client.call(METHOD, { threadId, searchTerm: "code, and a link to", limit: 250 });
  expect(found.data).toHaveLength(250);
  expect(found.nextCursor).toEqual(expect.any(String));
});
