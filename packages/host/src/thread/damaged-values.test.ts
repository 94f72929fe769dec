// Records contain values of clients, models and tool servers that the checks of records do not validate. This test damages
// each of them, and runs everything that reads a journal.
import { describe, expect, it } from "vitest";
import { GOLDEN_ID, goldenLines } from "../../../../test/support/journal-home.ts";
import { LONG } from "../../../../test/support/long-form.ts";
import { next } from "../core/next.ts";
import { notify } from "../core/notify.ts";
import { problemOf } from "../core/record-problem.ts";
import type { Commit, ThreadRecord } from "../core/records.ts";
import { forkHistory } from "../history/fork-history.ts";
import { allTurns } from "../history/stored-turns.ts";
import { messagesBody } from "../model/anthropic-request-body.ts";
import { chatBody } from "../model/chat-request-body.ts";
import type { ModelRequest } from "../model/model.ts";
import { responsesBody } from "../model/responses-request-body.ts";
import { textsOf } from "../store/index-updates.ts";
import { MemoryJournal } from "../store/memory/in-memory-journal.ts";
import { readHead } from "../store/thread-head.ts";
import { conversation } from "../turn/context/conversation.ts";

type Json = { [key: string]: unknown };

const commits = (await goldenLines()).map((line) => JSON.parse(line) as Commit);
const DAMAGED = [null, 7, "constructor", [], { toString: 7 }, [null]];

/** The paths of all nested values, as lists of keys and indexes. */
function* places(value: unknown, path: readonly string[] = []): Iterable<readonly string[]> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    yield [...path, key];
    yield* places(inner, [...path, key]);
  }
}

function damagedAt(value: unknown, path: readonly string[], damage: unknown): unknown {
  const copy: unknown = structuredClone(value);
  const holder = path.slice(0, -1).reduce<unknown>((at, key) => (at as Json)[key], copy);
  (holder as Json)[path.at(-1)!] = damage;
  return copy;
}

/** The short form of the test reads one of this many damaged journals. */
const STRIDE = LONG ? 1 : 8;

/** Golden journals with one damaged value each that passes the check of its record. `nth`: the commit with it. */
function* damagedJournals(): Iterable<{ nth: number; commits: readonly Commit[]; about: string }> {
  let found = 0;
  for (const [nth, commit] of commits.entries()) {
    for (const [at, record] of commit.records.entries()) {
      for (const path of places(record)) {
        for (const damage of DAMAGED) {
          const damaged = damagedAt(record, path, damage) as ThreadRecord;
          if (problemOf(damaged) !== undefined || found++ % STRIDE > 0) continue;
          const records = commit.records.with(at, damaged);
          const about = `commit ${nth + 1}, ${record.type} ${path.join(".")}: ${JSON.stringify(damage)}`;
          yield { nth, commits: commits.with(nth, { ...commit, records }), about };
        }
      }
    }
  }
}

async function journalOf(written: readonly Commit[]): Promise<MemoryJournal> {
  const journal = new MemoryJournal();
  await journal.append(written);
  return journal;
}

/** The request to a provider that is built from these records. */
async function callModel(records: readonly ThreadRecord[], provider: string): Promise<void> {
  const request: ModelRequest = {
    model: "m",
    effort: "low",
    summary: null,
    verbosity: null,
    serviceTier: null,
    outputSchema: null,
    instructions: "",
    context: await conversation(records, provider, () => []),
    tools: [],
    parallelToolCalls: true,
    promptCacheKey: "",
    answerBytes: 1000,
  };
  for (const body of [chatBody(request, true), messagesBody(request), responsesBody(request)])
    JSON.stringify(body);
}

const CALL = { type: "function_call", call_id: "c", name: "act", arguments: "{}" };

/** Runs everything that reads a journal. */
async function read(written: readonly Commit[], nth: number): Promise<void> {
  const journal = await journalOf(written);
  for (const record of written[nth]!.records) notify(GOLDEN_ID, record);
  textsOf(written[nth]!);
  await callModel(written[nth]!.records, "openai");
  // As a host finds it after another one was killed there.
  const cut = await readHead(await journalOf(written.slice(0, nth + 1)));
  next(cut!.state);
  const { state } = (await readHead(journal))!;
  next(state);
  await allTurns(journal);
  for await (const _ of forkHistory(journal, state, {}));
}

describe("a damaged value that is none of the host's", () => {
  it("[DAMAGE-3] keeps nothing from reading the journal", async () => {
    const failures: string[] = [];
    let tried = 0;
    for (const { nth, commits: written, about } of damagedJournals()) {
      tried++;
      await read(written, nth).catch((cause: unknown) => failures.push(`${about}: ${cause}`));
    }
    expect(failures).toEqual([]);
    expect(tried).toBeGreaterThan(1000 / STRIDE);
  });

  it.each([null, 7, "damaged", [], {}, { field: 7, text: "" }, { type: 7 }])(
    "[DAMAGE-3] that a provider gave for its reasoning keeps no model from being called: %j",
    async (data) => {
      const about = { turnId: "t", at: 1 };
      const call = { callId: "c", name: "act", namespace: null, arguments: "{}", kind: "function" } as const;
      const records: ThreadRecord[] = [
        {
          type: "itemCompleted",
          ...about,
          item: { type: "reasoning", id: "r", summary: [], content: [] },
          carry: { provider: "p", data },
        },
        { type: "toolCalled", ...about, call },
        { type: "toolAnswered", ...about, callId: "c", output: "done", success: true },
      ];
      await callModel(records, "p");
    },
  );

  it.each([null, 7, [null], [7], [{}], [{ type: 7 }], { toString: 7 }])(
    "[DAMAGE-3] in what a client put in keeps no model from being called: %j",
    async (damaged) => {
      const kinds = ["message", "function_call", "function_call_output", "custom_tool_call_output", damaged];
      for (const type of kinds) {
        const item = {
          type,
          role: "user",
          content: damaged,
          call_id: "c",
          name: "act",
          arguments: "{}",
          output: damaged,
        };
        for (const one of [item, { ...item, role: damaged, call_id: damaged, arguments: damaged }])
          await callModel([{ type: "itemsInjected", at: 1, items: [CALL, one, damaged] }], "p");
      }
    },
  );
});
