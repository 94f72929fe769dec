import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { methods, serverRequests } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import { nodeOf } from "../../packages/protocol/src/schema-language.ts";
import { Random } from "../simulation/random.ts";
import { freshFolder } from "../support/folder.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import { LONG, times } from "../support/long-form.ts";
import { MockModel, type Reply, responses, stream } from "../support/mock-model.ts";
import { STUCK_MS } from "../support/patience.ts";
import { anything, type Known, mutated, oddString, toJson, validValue } from "../support/schema-values.ts";
import type { Received, WireClient } from "../support/wire-client.ts";

const seed = Number(process.env.BOBBIN_SEED ?? Date.now() % 1_000_000);
/** Each round has a home of its own: a configuration that was written in the last one is gone. */
const ROUNDS = times(2, 5);
const REQUESTS = LONG ? 2_000 : 500;
/** Requests that are under way at once. */
const BATCH = 20;

/** What a log must not say, whatever clients send. */
const DAMAGE = /"level":"error"|cannot be read|torn last line/;

/** What the host has shown so far, by the kind of field that takes it. */
class Seen {
  readonly #values = new Map<string, string[]>();
  /** These and no others: some methods write and remove files. */
  readonly #folders: readonly string[];

  constructor(cwd: string) {
    this.#folders = [cwd, join(cwd, "sub")];
    for (const provider of ["mock", "offline", "nowhere"]) this.#add("provider", provider);
    for (const path of ["model", "approval_policy", "a.b", "model_providers.mock.name", "mcp_servers.x"])
      this.#add("keyPath", path);
  }

  readonly known = (key: string): readonly string[] => {
    const kind = kindOf(key);
    return kind === "folder" ? this.#folders : (this.#values.get(kind) ?? []);
  };

  /** Takes note of what stands under the names of the fields. */
  note(value: unknown, key = "", within = ""): void {
    if (typeof value === "string") {
      this.#add(kindOf(key === "id" ? `${within}Id` : key), value);
    } else if (Array.isArray(value)) {
      for (const one of value.slice(0, 20)) this.note(one, key, within);
    } else if (typeof value === "object" && value !== null) {
      for (const [inner, one] of Object.entries(value)) this.note(one, inner, key);
    }
  }

  #add(kind: string, value: string): void {
    if (kind === "" || value.length > 300) return;
    const values = this.#values.get(kind) ?? [];
    if (values.includes(value)) return;
    values.push(value);
    // The latest ones: earlier ones may be gone.
    if (values.length > 6) values.shift();
    this.#values.set(kind, values);
  }
}

/** Fields of one kind take each other's values. Those of no kind are made up. */
function kindOf(key: string): string {
  if (/cursor$/i.test(key)) return "cursor";
  if (/provider$/i.test(key)) return "provider";
  if (key === "keyPath") return key;
  if (/(cwds?|paths?|roots?)$/i.test(key)) return "folder";
  const [, kind = ""] = /(thread|turn|item|section|submission|environment)Ids?$/i.exec(key) ?? [];
  return kind.toLowerCase();
}

/** A model that talks, asks, plans, and calls tools that are not there, in ways that are not asked for. */
function madeUpAnswer(random: Random): Reply {
  return (response, asked) => {
    const names = ((asked.body.tools ?? []) as { name?: string }[]).flatMap(({ name }) => name ?? []);
    const question = {
      questions: [{ id: "q", header: "H", question: "?", options: [{ label: "l", description: "d" }] }],
    };
    const call = () => {
      const name = random.chance(0.4)
        ? "request_user_input"
        : random.pick([...names, "nothing", "__proto__"]);
      const args = random.chance(0.5)
        ? question
        : random.chance(0.5)
          ? mutated(question, random)
          : anything(random);
      return responses.call(name, toJson(args), `call_${random.uint32()}`);
    };
    const message = responses.message(random.chance(0.1) ? oddString(random) : "An answer.");
    const text = responses.stream(random.chance(0.6) ? call() : message);
    return stream(text)(response, asked);
  };
}

/** A home whose threads talk to a model, and a folder to work in. */
async function modelHome(modelUrl: string): Promise<{ home: string; cwd: string }> {
  const home = await freshFolder();
  const provider = `base_url = "${modelUrl}"\nwire_api = "responses"\nrequest_max_retries = 0\nstream_max_retries = 0`;
  const config = `model_provider = "mock"\nmodel = "m"\n[model_providers.mock]\nname = "Mock"\n${provider}\n`;
  await writeFile(join(home, "config.toml"), config);
  return { home, cwd: await freshFolder("cwd") };
}

/** Answers every question that the host asks, well or badly, or not at all. */
function answering(client: WireClient, random: Random): () => void {
  let looked = 0;
  return () => {
    for (const { id, method } of client.frames.slice(looked)) {
      if (id === undefined || method === undefined || random.chance(0.2)) continue;
      const { result } = serverRequests[method as keyof typeof serverRequests];
      const value = validValue(nodeOf(result), random, () => []);
      const answer = random.chance(0.5) ? value : random.chance(0.8) ? mutated(value, random) : undefined;
      const error = { code: -1, message: oddString(random), data: anything(random) };
      const body = answer === undefined ? `"error":${toJson(error)}` : `"result":${toJson(answer)}`;
      client.sendText(`{"id":${JSON.stringify(id)},${body}}`);
    }
    looked = client.frames.length;
  };
}

/** Sent with every batch, so that there is always something to act upon. */
function wellFormed(random: Random, known: Known): { method: string; params: object }[] {
  const tool = { type: "function", name: "look", description: "d", inputSchema: { type: "object" } };
  const threads = known("threadId");
  return [
    { method: "thread/start", params: { dynamicTools: [tool], ephemeral: random.chance(0.1) } },
    ...threads.slice(-2).map((threadId) => ({
      method: "turn/start",
      params: { threadId, input: [{ type: "text", text: "Go on." }] },
    })),
  ];
}

const isInternal = ({ error }: Received): boolean => error?.data.code === "internal";

/** Fails with the request that did it, and with what the log says. */
function expectNoInternal(host: HostProcess, request: string, reply: Received): void {
  if (!isInternal(reply)) return;
  throw new Error(`${request.slice(0, 3_000)}\n→ ${reply.text}\n${host.stderr.slice(-3_000)}`);
}

async function sweep(host: HostProcess, cwd: string, random: Random): Promise<void> {
  const client = host.stdio();
  await client.initialize({ experimentalApi: true });
  const seen = new Seen(cwd);
  const answer = answering(client, random);
  const names = Object.keys(methods).filter((name) => name !== "initialize");
  // What leads somewhere is sent more often.
  const often = ["thread/start", "thread/resume", "turn/start", "turn/start", "thread/fork", "thread/read"];
  /** Methods that were not sent yet. Each is sent in the middle of others, in an order of this seed. */
  const unsent = new Set(names);
  const next = (left: number): string => {
    // At the end, there is room for nothing else.
    if (unsent.size > 0 && (left <= unsent.size || random.chance(0.4))) return random.pick([...unsent]);
    return random.chance(0.2) ? random.pick(often) : random.pick(names);
  };
  for (let sent = 0; sent < REQUESTS; sent += BATCH) {
    const made = Array.from({ length: BATCH }, (_, nth) => {
      const method = next(REQUESTS - sent - nth);
      unsent.delete(method);
      const entry = methods[method as keyof typeof methods];
      let params = validValue(nodeOf(entry.params), random, seen.known);
      for (let times = random.pick([0, 0, 1, 1, 2]); times > 0; times--) params = mutated(params, random);
      return { method, params };
    });
    const batch = [...wellFormed(random, seen.known), ...made].map(({ method, params }, at) => {
      const id = `${sent}.${at}`;
      return { id, text: `{"id":"${id}","method":"${method}","params":${toJson(params)}}` };
    });
    const from = client.frames.length;
    for (const { text } of batch) client.sendText(text);
    for (const { id, text } of batch) {
      const reply = await client.waitFor(
        (frame) => frame.method === undefined && frame.id === id,
        `reply to ${text.slice(0, 500)}`,
        from,
      );
      expectNoInternal(host, text, reply);
      seen.note(reply.result);
    }
    for (const { params } of client.frames.slice(from)) seen.note(params);
    answer();
  }
  expect([...unsent], "methods that were never sent").toEqual([]);
  const stranger = await host.connect();
  for (let times = 0; times < 20; times++) {
    const params = mutated(
      validValue(nodeOf(methods.initialize.params), random, () => []),
      random,
    );
    const text = `{"id":"hello ${times}","method":"initialize","params":${toJson(params)}}`;
    stranger.sendText(text);
    const reply = await stranger.waitFor(({ id }) => id === `hello ${times}`, "reply to initialize");
    expectNoInternal(host, text, reply);
    if (reply.error === undefined) break;
  }
  await stranger.cut();
}

/** What the sweep left behind can be listed, read and loaded. */
async function readBack(host: HostProcess): Promise<void> {
  const client = host.stdio();
  await client.initialize({ experimentalApi: true });
  const asked = async (method: string, params: object): Promise<Received> => {
    const reply = await client.request(method, params);
    expectNoInternal(host, `${method} ${toJson(params)}`, reply);
    return reply;
  };
  for (const archived of [false, true]) {
    for (let cursor: string | null = null; ; ) {
      const { result } = await asked("thread/list", { archived, cursor, limit: 100 });
      for (const { id: threadId } of result.data) {
        await asked("thread/read", { threadId, includeTurns: true });
        await asked("thread/items/list", { threadId });
        await asked("thread/resume", { threadId });
        await asked("thread/unload", { threadId, interrupt: true });
      }
      cursor = result.nextCursor;
      if (cursor === null) break;
    }
  }
}

describe(`requests made from the schemas (BOBBIN_SEED=${seed})`, () => {
  it.each(Array.from({ length: ROUNDS }, (_, round) => seed + round))(
    "[BAR-4] of seed %i are all answered, and none by an internal error",
    async (roundSeed) => {
      const random = new Random(roundSeed);
      const model = await MockModel.start(madeUpAnswer(random));
      const { home, cwd } = await modelHome(model.url);
      const args = ["--stdio", "--listen", "ws://127.0.0.1:0"];
      const first = await spawnHost({ home, args, cwd });
      await sweep(first, cwd, random);
      first.signal("SIGTERM");
      expect(await first.exited).toEqual({ code: 0, signal: null });
      expect(first.stderr).not.toMatch(DAMAGE);
      // Made-up requests may have replaced the folder by a file.
      const second = await spawnHost({ home, args, cwd: await freshFolder("cwd") });
      await readBack(second);
      second.signal("SIGTERM");
      expect(await second.exited).toEqual({ code: 0, signal: null });
      expect(second.stderr).not.toMatch(DAMAGE);
      await model.close();
    },
    STUCK_MS,
  );
});
