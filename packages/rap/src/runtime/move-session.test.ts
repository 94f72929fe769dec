import { describe, expect, it } from "vitest";
import { FakeToolServer, ok } from "../../../../test/support/tool-server.ts";
import { moveSession, type RuntimePorts, type SessionMove } from "./index.ts";

const ports: RuntimePorts = {
  send: (url, request) => fetch(url, request),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  random: () => 0,
};

/** Tool servers that answer once `answer` is called. */
async function moving() {
  const steps: string[] = [];
  let answer!: () => void;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const [stateful, other, stateless] = await Promise.all([1, 2, 3].map(() => FakeToolServer.start()));
  for (const server of [stateful!, other!]) {
    server.on.set("/migrate", async (response, heard) => {
      const { destination_url } = heard.body;
      steps.push(`asked to move to ${destination_url}`);
      await answered;
      steps.push(`moved to ${destination_url}`);
      await ok(response, heard);
    });
  }
  const entry = (server: FakeToolServer, name: string, needsMigration: boolean) => ({
    address: { name, url: server.url, headers: { "x-key": "k" }, allowedOrigins: [] },
    needsMigration,
    destinationUrl: `http://127.0.0.1:1/${name}`,
  });
  const move: SessionMove = {
    sessionId: "root",
    servers: [entry(stateful!, "a", true), entry(other!, "b", true), entry(stateless!, "c", false)],
    stop: async () => void steps.push("stop"),
    transfer: async () => void steps.push("transfer"),
    cleanUp: async () => void steps.push("clean up"),
  };
  return { steps, move, answer, stateful: stateful!, other: other!, stateless: stateless! };
}

const places = ["http://127.0.0.1:1/a", "http://127.0.0.1:1/b"];

describe("a session that moves", () => {
  it("[RAPR-100] [RAPR-101] stops, asks the servers that need it to migrate, transfers, and cleans up", async () => {
    const { steps, move, answer, stateful, other, stateless } = await moving();
    const moved = moveSession(move, ports, { timeoutMs: 5000 });
    await Promise.all([stateful.next("/migrate"), other.next("/migrate")]);
    // Both servers are asked at once. Nothing is transferred before both have answered.
    expect(steps[0]).toBe("stop");
    expect(new Set(steps.slice(1))).toEqual(new Set(places.map((place) => `asked to move to ${place}`)));
    answer();
    expect(await moved).toEqual({ kind: "moved" });
    expect(new Set(steps.slice(3, 5))).toEqual(new Set(places.map((place) => `moved to ${place}`)));
    expect(steps.slice(5)).toEqual(["transfer", "clean up"]);
    expect(stateful.heard[0]).toMatchObject({
      method: "POST",
      headers: { "content-type": "application/json", "x-key": "k" },
      body: { session_id: "root", destination_url: "http://127.0.0.1:1/a" },
    });
    expect(stateless.heard).toEqual([]);
  });

  it("[RAPR-102] stays where it is when a server fails, and names that server", async () => {
    const { steps, move, answer, other } = await moving();
    answer();
    other.on.set("/migrate", (response) => void response.writeHead(500).end("the disk is full\n"));
    expect(await moveSession(move, ports, { timeoutMs: 5000 })).toEqual({
      kind: "failed",
      server: "b",
      says: "it answered with status 500: the disk is full",
    });
    await other.close();
    expect(await moveSession(move, ports, { timeoutMs: 5000 })).toMatchObject({
      kind: "failed",
      server: "b",
    });
    expect(steps).not.toContain("transfer");
    expect(steps).not.toContain("clean up");
  });
});
