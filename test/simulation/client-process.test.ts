import assert from "node:assert/strict";
import { describe } from "vitest";
import type { FakeProgram } from "./fake-spawn.ts";
import { simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";
import type { World } from "./world.ts";

/** Writes numbered lines, some of them slowly. */
const talk: FakeProgram = async (process) => {
  for (let line = 0; line < Number(process.argv[1]); line++) {
    await process.write(`${line}\n`, line % 3 === 0 ? "stderr" : "stdout");
    if (line % 5 === 0) await process.sleep(20);
  }
  return Number(process.argv[2] ?? 0);
};

/** Writes what it reads. */
const cat: FakeProgram = async (process) => {
  for (let text = await process.read(); text !== undefined; text = await process.read())
    await process.write(text);
  return 0;
};

const hang: FakeProgram = (process) => process.forever();

/** Starts children that share its output and go on without it. */
const family: FakeProgram = async (process) => {
  process.trap("SIGTERM");
  process.fork(hang);
  process.fork(async (child) => {
    child.fork(hang);
    return child.forever();
  });
  await process.write("ready\n");
  return process.argv[1] === "stay" ? process.forever() : 7;
};

/** Leaves a child in a session of its own, which has other output. */
const daemon: FakeProgram = async (process) => {
  process.fork(
    async (child) => {
      child.fork(hang, { setsid: true });
      return child.forever();
    },
    { setsid: true, silent: true },
  );
  return process.argv[1] === "stay" ? process.forever() : 0;
};

function addPrograms({ processes: { programs } }: World): void {
  for (const [name, program] of Object.entries({ talk, cat, hang, family, daemon }))
    programs.set(name, program);
}

const COMMANDS = [
  ["talk", "0"],
  ["talk", "30", "3"],
  ["cat"],
  ["hang"],
  ["family"],
  ["family", "stay"],
  ["daemon"],
  ["daemon", "stay"],
];

async function spawn(client: SimClient, handle: string, command: readonly string[], more: object = {}) {
  const params = { command, cwd: "/work", processHandle: handle, timeoutMs: null, streamStdin: true };
  const outcome = await client.request("process/spawn", { ...params, ...more });
  return "reply" in outcome && outcome.reply.error === undefined;
}

function exited(client: SimClient, handle: string): Promise<boolean> {
  return client.until(
    `exit of ${handle}`,
    ({ method, params }) => method === "process/exited" && params!.processHandle === handle,
  );
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("programs that clients start", () => {
  simulate(
    "give all of their output, in order, and then their exit",
    { count: 50, full: 500 },
    async (world) => {
      addPrograms(world);
      const host = await world.start();
      const client = host.connect();
      await client.initialize({ experimentalApi: true });
      const lines = world.random.between(1, 60);
      await spawn(client, "talk", ["sh", "-c", `talk ${lines} 3`], { streamStdoutStderr: true });
      await spawn(client, "cat", ["cat"], { streamStdoutStderr: true });
      await client.call("process/writeStdin", { processHandle: "cat", deltaBase64: base64("hello ") });
      await client.call("process/writeStdin", {
        processHandle: "cat",
        deltaBase64: base64("you"),
        closeStdin: true,
      });
      await Promise.all([exited(client, "talk"), exited(client, "cat")]);
      const text = (handle: string, stream: string): string => {
        const deltas = client.frames.filter(
          ({ method, params }) =>
            method === "process/outputDelta" && params!.processHandle === handle && params!.stream === stream,
        );
        return Buffer.concat(
          deltas.map(({ params }) => Buffer.from(params!.deltaBase64 as string, "base64")),
        ).toString();
      };
      const expected = Array.from({ length: lines }, (_, line) => line);
      const joined = (of: readonly number[]): string => of.map((line) => `${line}\n`).join("");
      world.check(() => {
        assert.equal(text("talk", "stderr"), joined(expected.filter((line) => line % 3 === 0)));
        assert.equal(text("talk", "stdout"), joined(expected.filter((line) => line % 3 !== 0)));
        assert.equal(text("cat", "stdout"), "hello you");
        const { params } = client.frames.find(({ params }) => params?.exitCode === 3)!;
        assert.equal(params!.processHandle, "talk");
      });
      await host.close();
    },
  );

  const live = async (world: World, client: SimClient): Promise<void> => {
    const { random } = world;
    await client.initialize({ experimentalApi: true });
    const handles: string[] = [];
    for (let left = random.between(1, 4); left > 0; left--) {
      const handle = `${client.name} ${left}`;
      const limits = { timeoutMs: random.pick([null, null, 50]), outputBytesCap: random.pick([null, 10]) };
      if (await spawn(client, handle, random.pick(COMMANDS), limits)) handles.push(handle);
      for (let moments = random.between(0, 20); moments > 0; moments--) await world.moment();
    }
    for (const processHandle of handles) {
      if (random.chance(0.5)) await client.request("process/kill", { processHandle });
      else if (random.chance(0.3))
        await client.request("process/writeStdin", { processHandle, closeStdin: true });
    }
    if (random.chance(0.5)) client.cut();
  };

  simulate(
    "[PROC-10] leave nothing behind, whatever ends them",
    { count: 100, full: 2000 },
    async (world) => {
      const { random } = world;
      addPrograms(world);
      const host = await world.start();
      const lives = [host.connect(), host.connect()].map((client) => live(world, client).catch(() => {}));
      if (random.chance(0.5)) {
        const kind = random.pick(["kill", "power"] as const);
        await Promise.all([host.crashIn(random.between(5, 200), () => kind), ...lives]);
      } else {
        await Promise.all(lives);
        await host.close();
      }
    },
  );

  simulate(
    "[PROC-11] are ended by the next start if the watchdog was killed before the host",
    { count: 50, full: 1000 },
    async (world) => {
      addPrograms(world);
      const host = await world.start();
      const lives = [host.connect(), host.connect()].map((client) => live(world, client).catch(() => {}));
      world.scheduler.inSteps(world.random.between(5, 200), "watchdogs die", () =>
        world.processes.killWatchdogs(host),
      );
      await Promise.all([host.crashIn(world.random.between(5, 200)), ...lives]);
      const next = await world.start();
      await world.scheduler.quiet();
      world.check(() => assert.deepEqual(world.processes.of(host), []));
      await next.close();
      world.check(() => assert.deepEqual(world.disk.list("/home/of/bobbin/processes"), []));
    },
  );

  simulate(
    "that started others in sessions of their own are ended with these",
    { count: 20 },
    async (world) => {
      addPrograms(world);
      const host = await world.start();
      const [one, other] = [host.connect(), host.connect()];
      await Promise.all([
        one.initialize({ experimentalApi: true }),
        other.initialize({ experimentalApi: true }),
      ]);
      const alive = async (expected: number): Promise<void> => {
        await world.scheduler.quiet();
        world.check(() => assert.equal(world.processes.alive.length, expected));
      };
      await spawn(one, "stay", ["daemon", "stay"]);
      await spawn(one, "left", ["daemon"]);
      await spawn(other, "stay", ["daemon", "stay"]);
      await exited(one, "left");
      await alive(3 + 2 + 3);
      await one.call("process/kill", { processHandle: "stay" });
      await exited(one, "stay");
      await alive(2 + 3);
      one.cut();
      await alive(3);
      await host.close();
      await alive(0);
    },
  );
});
