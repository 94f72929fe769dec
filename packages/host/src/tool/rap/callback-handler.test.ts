import { describe, expect, it } from "vitest";
import type { ThreadState } from "../../core/state.ts";
import { fault } from "../../errors.ts";
import type { Log } from "../../observe/log.ts";
import type { IncomingRequest } from "../../platform/platform.ts";
import { CallbackHandler, type CallbackPorts } from "./callback-handler.ts";

const SUBJECT = { threadId: "t", load: 1, server: "desk", callId: "c" };
const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };

const SECRETS = { hold() {}, save: async () => {}, forget: async () => {} };

function post(): IncomingRequest {
  const message = { type: "tool_result", group_id: "t", id: "c", text: "done" };
  async function* body() {
    yield Buffer.from(JSON.stringify(message));
  }
  return {
    method: "POST",
    path: "/",
    query: "",
    headers: { get: (name) => (name === "content-type" ? "application/json" : null) },
    body: body(),
  };
}

function callbacks(deliver: CallbackPorts["deliver"]) {
  const clock = { time: 0, now: () => 0, monotonic: () => clock.time };
  const taken = new CallbackHandler({
    clock,
    timers: { after: () => () => {}, soon: () => {} },
    ids: { uuid: () => "u", integer: () => 1 },
    log: silent,
    deliver,
    count() {},
    secrets: SECRETS,
    addressOf: () => undefined,
    hasServer: () => true,
    forward: async (_request, _body, otherwise) => ({ status: otherwise }),
  });
  return { clock, take: async () => (await taken.take(SUBJECT, post())).status };
}

const state = (type: string, loadEpoch = 1) => ({ status: { type }, loadEpoch }) as unknown as ThreadState;

describe("what is posted to a callback URL", () => {
  it("[RAPR-9] comes at a rate that is bounded, and what is too much may come again", async () => {
    const { clock, take } = callbacks(async () => ({ state: state("active"), records: [] }));
    const burst: number[] = [];
    for (let round = 0; round < 51; round++)
      burst.push(...(await Promise.all(Array.from({ length: 10 }, take))));
    expect(burst.filter((status) => status === 200)).toHaveLength(500);
    expect(burst.filter((status) => status === 503)).toHaveLength(10);
    clock.time += 1000;
    expect(await take()).toBe(200);
  });

  it("is 503 while it cannot be decided or taken, and 410 when it never will be", async () => {
    const refusing = (cause: Error) => callbacks(() => Promise.reject(cause)).take();
    expect(await refusing(fault("heldElsewhere", "t", "h"))).toBe(503);
    expect(await refusing(fault("shuttingDown"))).toBe(503);
    expect(await refusing(fault("storageFailed", "the disk is full"))).toBe(503);
    expect(await refusing(new Error("surprise"))).toBe(503);
    expect(await refusing(fault("noRollout", "t"))).toBe(410);
    const finding = (found: ThreadState) => callbacks(async () => ({ state: found, records: [] })).take();
    expect(await finding(state("notLoaded"))).toBe(410);
    expect(await finding(state("idle", 2))).toBe(410);
    expect(await finding(state("idle"))).toBe(200);
  });
});
