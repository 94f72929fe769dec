import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Random } from "../simulation/random.ts";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { type HostProcess, stdioHost } from "../support/host-process.ts";
import { watchdogOf, withMark } from "../support/processes.ts";
import type { WireClient } from "../support/wire-client.ts";

const SCHEDULES = Number(process.env.BOBBIN_SCHEDULES ?? (process.env.BOBBIN_FULL === "1" ? 1000 : 6));
const FIRST = Number(process.env.BOBBIN_SCHEDULE ?? 1);

/** Programs that end by themselves, that hang, that write without end, and that leave others behind. */
const SCRIPTS = [
  "echo done",
  "cat",
  "sleep 1000",
  "yes",
  "sleep 1000 & setsid sleep 1000 & sleep 1000",
  "(setsid sleep 1000 >/dev/null 2>&1 &); exit 3",
  "trap '' TERM INT; while :; do sleep 0.01; done",
];

interface Stage {
  readonly client: WireClient;
  readonly random: Random;
  readonly threads: string[];
  readonly processes: string[];
  readonly commands: string[];
}

/** What can happen. Whether each is taken or refused does not matter here. */
const ACTS: Readonly<Record<string, (stage: Stage) => Promise<unknown> | unknown>> = {
  async spawn({ client, random, processes }) {
    const processHandle = `process ${processes.length}`;
    processes.push(processHandle);
    await client.request("process/spawn", {
      command: ["sh", "-c", random.pick(SCRIPTS)],
      cwd: "/",
      processHandle,
      streamStdin: true,
      streamStdoutStderr: random.chance(0.5),
      tty: random.chance(0.3),
      timeoutMs: random.pick([null, 20]),
    });
  },
  exec({ client, random, commands }) {
    const processId = `command ${commands.length}`;
    commands.push(processId);
    // Its reply comes with its end.
    client.send({
      id: processId,
      method: "command/exec",
      params: {
        command: ["sh", "-c", random.pick(SCRIPTS)],
        processId,
        streamStdin: true,
        tty: random.chance(0.3),
        sandboxPolicy: random.pick([{ type: "dangerFullAccess" }, { type: "readOnly" }]),
        ...random.pick([{ disableTimeout: true }, { timeoutMs: 20 }]),
      },
    });
  },
  async thread({ client, threads }) {
    threads.push(await client.startThread());
  },
  async shell({ client, random, threads }) {
    if (threads.length === 0) return;
    await client.request("thread/shellCommand", {
      threadId: random.pick(threads),
      command: random.pick(SCRIPTS),
    });
  },
  async interrupt({ client }) {
    const started = client.told("turn/started").at(-1)?.params;
    if (started === undefined) return;
    await client.request("turn/interrupt", { threadId: started.threadId, turnId: started.turn.id });
  },
  async unload({ client, random, threads }) {
    if (threads.length > 0) await client.request("thread/unload", { threadId: random.pick(threads) });
  },
  async write({ client, random, processes }) {
    if (processes.length === 0) return;
    await client.request("process/writeStdin", {
      processHandle: random.pick(processes),
      deltaBase64: Buffer.from("some\n").toString("base64"),
      closeStdin: random.chance(0.5),
    });
  },
  async kill({ client, random, processes }) {
    if (processes.length > 0) await client.request("process/kill", { processHandle: random.pick(processes) });
  },
  async terminate({ client, random, commands }) {
    if (commands.length > 0)
      await client.request("command/exec/terminate", { processId: random.pick(commands) });
  },
};

/** One life of a host: a few acts, some of them at once, and then its end. */
async function life(home: string, temporary: string, mark: string, random: Random): Promise<void> {
  const { host, client } = await stdioHost({
    home,
    cwd: home,
    env: { SCHEDULE: mark, TMPDIR: temporary },
    capabilities: { experimentalApi: true },
  });
  const stage: Stage = { client, random, threads: [], processes: [], commands: [] };
  let underWay: Promise<unknown>[] = [];
  for (let acts = random.between(3, 15); acts > 0; acts--) {
    const act = ACTS[random.pick(Object.keys(ACTS))]!;
    underWay.push(Promise.resolve(act(stage)).catch(() => {}));
    if (random.chance(0.5)) {
      await Promise.all(underWay);
      underWay = [];
    }
  }
  const watchdog = hostMark(host);
  host.signal(random.pick(["SIGKILL", "SIGKILL", "SIGTERM"]));
  await host.exited;
  await Promise.all(underWay);
  await eventually(() => withMark(mark).length === 0, "no process is left");
  if (watchdog !== undefined)
    await eventually(() => watchdogOf(watchdog).length === 0, "no watchdog is left");
}

/** Undefined if it has started no process. */
function hostMark({ home }: HostProcess): string | undefined {
  try {
    return readdirSync(join(home, "processes"))
      .at(-1)
      ?.replace(/\.lock$/, "");
  } catch {
    return undefined;
  }
}

const mounts = (): number => readFileSync("/proc/self/mounts", "utf8").split("\n").length;

describe("random schedules of start, write, interrupt, unload, and the end of the host", () => {
  it(
    `[PROC-10] leave no process, no mount and no file, ${SCHEDULES} of them`,
    async () => {
      const mountsBefore = mounts();
      for (let seed = FIRST; seed < FIRST + SCHEDULES; seed++) {
        const [home, temporary] = [await freshFolder(), await freshFolder("temporary")];
        const random = new Random(seed);
        const mark = `schedule-${process.pid}-${seed}`;
        try {
          await life(home, temporary, mark, random);
          if (random.chance(0.3)) await life(home, temporary, mark, random);
          expect(readdirSync(temporary)).toEqual([]);
        } catch (cause) {
          throw new Error(`repeat it with BOBBIN_SCHEDULE=${seed}`, { cause });
        }
      }
      expect(mounts()).toBe(mountsBefore);
    },
    Math.max(60_000, SCHEDULES * 10_000),
  );
});
