// Blocks that show what clients and hosts send each other, played with real hosts and the offline model.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { difference, wholeJson } from "../support/elided-json.ts";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";
import { take } from "../support/markdown.ts";
import { runBobbin } from "../support/run-bobbin.ts";
import { linePattern } from "../support/transcript.ts";
import type { WireClient } from "../support/wire-client.ts";
import { notRunBy, type Snippet, usual } from "./snippet-list.ts";

const SOCKET = ["--listen", "ws://127.0.0.1:0"];

/** A client in the situation that a block begins with, and the thread that the block is about. */
interface Stage {
  readonly client: WireClient;
  readonly threadId?: string;
}

/** The first request of the block is `initialize`. */
async function newClient(): Promise<Stage> {
  return { client: (await spawnHost()).stdio() };
}

/** The client has started a thread and a turn. */
async function withTurn(): Promise<Stage> {
  const { client } = await newClient();
  await client.initialize({ experimentalApi: true, eventCursor: true });
  const threadId = await client.startThread();
  await client.turn(threadId, "Hello!");
  return { client, threadId };
}

/** The client asks for a thread that another host on the same home has loaded. */
async function withOtherHost(): Promise<Stage> {
  const home = await freshFolder();
  const holder = (await spawnHost({ home })).stdio();
  await holder.initialize();
  const threadId = await holder.startThread();
  await holder.turn(threadId, "Hello!");
  const client = (await spawnHost({ home })).stdio();
  await client.initialize();
  await client.request("thread/resume", { threadId });
  return { client, threadId };
}

function stageOf({ text }: Snippet): Promise<Stage> {
  if (text.includes('"method":"initialize"')) return newClient();
  return text.includes("heldElsewhere") ? withOtherHost() : withTurn();
}

/** What a page shows as sent, with the real thread and cursor. Text that is no JSON is sent as it is. */
function sent(shown: string, real: { readonly threadId?: string; readonly cursor?: string }): string {
  let value: { params?: Record<string, unknown> };
  try {
    value = wholeJson(shown).value as typeof value;
  } catch {
    return shown;
  }
  const { params } = value;
  if (typeof params?.["threadId"] === "string") params["threadId"] = real.threadId;
  if (params?.["afterCursor"] !== undefined) params["afterCursor"] = real.cursor;
  return JSON.stringify(value);
}

/** Sends what was sent, and finds what came back, in the order that is shown. */
async function play(one: Snippet): Promise<void> {
  const { client, threadId } = await stageOf(one);
  const real: { threadId?: string; cursor?: string } = threadId === undefined ? {} : { threadId };
  // A cursor is opaque, so that of the host stands for the one that is shown.
  const shownCursor = (text: string) => text.replace(/("cursor":)"[^"]*"/g, '$1"…"');
  let at = 0;
  let repliesFrom = 0;
  for (const line of one.text.trimEnd().split("\n")) {
    const [, direction, text] = /^([<>]) (.*)$/.exec(line) ?? [];
    // Between them is what the page says in words.
    if (text === undefined) expect(line, one.at).toMatch(/^ {2}… /);
    else if (direction === ">") {
      repliesFrom = client.frames.length;
      client.sendText(sent(text, real));
    } else {
      const { value } = wholeJson(shownCursor(text)) as { value: { id?: unknown; method?: string } };
      const isReply = value.method === undefined;
      const frame = await client.waitFor(
        ({ id, method }) => (isReply ? method === undefined && id === value.id : method === value.method),
        `${one.at}: ${line}`,
        isReply ? Math.max(at, repliesFrom) : at,
      );
      at = client.frames.indexOf(frame) + 1;
      const { text: raw } = frame;
      expect(difference(value, JSON.parse(raw), !text.includes("…")), `${one.at}: ${line}\n${raw}`).toBe(
        undefined,
      );
      real.threadId ??= frame.result?.thread?.id;
      real.cursor = frame.params?.cursor ?? real.cursor;
    }
  }
  take(one.page, one);
}

it("[DOCS-12] shows messages that a host sends and takes, in their order", async () => {
  const blocks = await usual("frames");
  expect(blocks.length).toBeGreaterThan(4);
  await Promise.all(blocks.map(play));
});

it("[DOCS-12] shows requests that a host answers", async () => {
  const token = "a-capability-token-of-the-documentation";
  const file = join(await freshFolder("token"), "token");
  await writeFile(file, token);
  for (const one of await usual("http")) {
    const [head, body] = one.text.trimEnd().split("\n\n");
    const [first, ...fields] = head!.split("\n");
    const [method, path] = first!.split(" ");
    const { origin } = JSON.parse(body!) as { readonly origin: string };
    const auth = ["--ws-auth", "capability-token", "--ws-token-file", file, "--allow-origin", origin];
    const host = await spawnHost({ args: [...SOCKET, ...auth] });
    const headers = fields.map((line) => line.replace("TOKEN", token).split(": ") as [string, string]);
    const reply = await fetch(`${await host.site()}${path}`, { method: method!, headers, body: body! });
    expect(reply.status, one.at).toBe(200);
    // As the page says behind the block.
    expect(await reply.json()).toEqual({ ticket: expect.any(String), expiresInMs: 30_000 });
    take(one.page, one);
  }
});

it("[DOCS-12] shows lines that a host logs", async () => {
  for (const one of await usual("log")) {
    const home = await freshFolder();
    const host = await spawnHost({ home, args: SOCKET, env: { LOG_FORMAT: "text" } });
    await eventually(() => host.stderr.includes("listening"), "the host listens");
    const chat = await runBobbin(["chat"], { env: { BOBBIN_HOME: home }, input: "Hello!\n" });
    expect(chat.stdout).toContain("You said: Hello!");
    for (const line of one.text.trimEnd().split("\n")) {
      const pattern = new RegExp(`^${linePattern(line.replace(/^[\d:.]+/, "…"))}$`, "m");
      await eventually(() => pattern.test(host.stderr), `${one.at}: ${line}\n${host.stderr}`);
    }
    take(one.page, one);
  }
});

it("[DOCS-12] runs all that the list gives to this file", async () => {
  expect(await notRunBy("test/docs/snippets-on-a-host.test.ts")).toEqual([]);
});
