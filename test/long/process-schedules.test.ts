import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Random } from "../simulation/random.ts";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { type HostProcess, stdioHost } from "../support/host-process.ts";
import { times } from "../support/long-form.ts";
import { watchdogOf, withMark, withMountAt } from "../support/processes.ts";
import { hasSandbox } from "../support/sandbox-here.ts";
import type { WireClient } from "../support/wire-client.ts";

const SCHEDULES = Number(process.env.BOBBIN_SCHEDULES ?? times(2, 20));
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
/** Commands of a model: the same, and those that may change the repository, which has protected files then. */
const COMMANDS = [
  ...SCRIPTS,
  "git commit --allow-empty -m x",
  "git gc && git stash list",
  "echo more >> a.txt",
  "read line; echo $line",
];
const SANDBOXES = hasSandbox ? ["danger-full-access", "workspace-write"] : ["danger-full-access"];

interface Stage {
  readonly client: WireClient;
  readonly random: Random;
  readonly repository: string;
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
  async thread({ client, random, threads, repository: cwd }) {
    const sandbox = random.pick(SANDBOXES);
    threads.push(await client.startThread({ cwd, sandbox, approvalPolicy: "never" }));
  },
  /** A model runs a command, and leaves it running if that takes longer. */
  async command({ client, random, threads }) {
    if (threads.length === 0) return;
    const args = { cmd: random.pick(COMMANDS), tty: random.chance(0.3), login: false, yield_time_ms: 250 };
    await turn(client, random.pick(threads), "exec_command", args);
  },
  /** The model writes to a command that it left running, or looks at it. */
  async input({ client, random, threads }) {
    if (threads.length === 0) return;
    const threadId = random.pick(threads);
    const { result } = await client.request("thread/backgroundTerminals/list", { threadId });
    const [terminal] = result?.data ?? [];
    if (terminal === undefined) return;
    const chars = random.pick(["some\n", "\u0003", "\u0004"]);
    await turn(client, threadId, "write_stdin", { session_id: Number(terminal.processId), chars });
  },
  async clean({ client, random, threads }) {
    if (threads.length > 0)
      await client.request("thread/backgroundTerminals/clean", { threadId: random.pick(threads) });
  },
  async leave({ client, random, threads }) {
    if (threads.length === 0) return;
    const [threadId] = threads.splice(random.below(threads.length), 1);
    await client.request(random.pick(["thread/archive", "thread/delete"]), { threadId });
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

/** Commands of models more often than the rest. */
const NAMES = [...Object.keys(ACTS), ...Array.from({ length: 6 }, () => "command"), "input", "input"];

/** The offline model calls any tool that it is asked to call. The turn may be left running. */
async function turn(client: WireClient, threadId: string, tool: string, args: object): Promise<void> {
  const input = [{ type: "text", text: `call ${tool} ${JSON.stringify(args)}` }];
  const { result } = await client.request("turn/start", { threadId, input });
  if (result !== undefined) await client.turnCompleted(result.turn.id);
}

interface Places {
  readonly home: string;
  readonly temporary: string;
  readonly repository: string;
}

/** One life of a host: a few acts, some of them at once, and then its end. */
async function life(places: Places, mark: string, random: Random): Promise<void> {
  const { home, temporary, repository } = places;
  const { host, client } = await stdioHost({
    home,
    cwd: home,
    // Not the person's own profile: a login shell that is killed may leave locks there.
    env: { SCHEDULE: mark, TMPDIR: temporary, HOME: home },
    capabilities: { experimentalApi: true },
  });
  const stage: Stage = { client, random, repository, threads: [], processes: [], commands: [] };
  let underWay: Promise<unknown>[] = [];
  await ACTS["thread"]!(stage);
  for (let acts = random.between(3, 15); acts > 0; acts--) {
    const act = ACTS[random.pick(NAMES)]!;
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
  await eventually(() => mountedIn(places).length === 0, "no mount is left");
  if (watchdog !== undefined)
    await eventually(() => watchdogOf(watchdog).length === 0, "no watchdog is left");
}

/** Processes in sandboxes that have the folders of a schedule, whatever their environment is. */
function mountedIn({ home, temporary, repository }: Places): readonly number[] {
  return [home, temporary, repository].flatMap(withMountAt);
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

/** A repository with a file, and a hook that makes commits hang. */
async function repository(): Promise<string> {
  const cwd = await freshFolder("repository");
  await writeFile(join(cwd, "a.txt"), "one\n");
  for (const args of [
    ["init", "-q"],
    ["config", "user.name", "t"],
    ["config", "user.email", "t@example.org"],
  ])
    execFileSync("git", args, { cwd });
  await writeFile(join(cwd, ".git", "hooks", "pre-commit"), "#!/bin/sh\nsleep 1000\n", { mode: 0o755 });
  return cwd;
}

/** What is there but for what git commands make: what holds a place for a confined command would be new. */
async function listing(cwd: string): Promise<string[]> {
  const made =
    /^(objects|refs|logs|info|branches|index|HEAD|COMMIT_EDITMSG|ORIG_HEAD|packed-refs|gc\.\w+)\b|\.lock$/;
  const inside = readdirSync(join(cwd, ".git")).filter((name) => !made.test(name));
  return [...readdirSync(cwd), ...inside].sort();
}

/** What a host left that was killed is removed by the next one. */
async function nextStart({ home, repository }: Places): Promise<void> {
  const { host, client } = await stdioHost({ home, cwd: home });
  await client.call("thread/loaded/list", {});
  const left = (): readonly string[] =>
    ["processes", "sandbox-masks"].flatMap((name) => {
      const folder = join(home, name);
      return existsSync(folder) ? readdirSync(folder).filter((entry) => !/^(lock|hosts)$/.test(entry)) : [];
    });
  await eventually(() => left().length === 0, "nothing is left in the home").catch((cause: Error) => {
    throw new Error(`${cause.message}: ${left().join(", ")}`);
  });
  await eventually(
    () => !existsSync(join(repository, ".git", "commondir")),
    "nothing holds a place in the repository",
  );
  host.signal("SIGTERM");
  await host.exited;
}

describe("a sandboxed command that clears its environment", () => {
  it.runIf(hasSandbox).each(["SIGKILL", "SIGTERM"] as const)(
    "[PROC-10] ends with its host, and its mounts end with it (%s)",
    async (signal) => {
      const places = {
        home: await freshFolder(),
        temporary: await freshFolder("temporary"),
        repository: await repository(),
      };
      const { host, client } = await stdioHost({
        home: places.home,
        cwd: places.home,
        env: { TMPDIR: places.temporary, HOME: places.home },
        capabilities: { experimentalApi: true },
      });
      const sandbox = "workspace-write";
      const threadId = await client.startThread({
        cwd: places.repository,
        sandbox,
        approvalPolicy: "never",
      });
      const cmd = "exec env -i setsid sleep 1000";
      await turn(client, threadId, "exec_command", { cmd, login: false, yield_time_ms: 250 });
      expect(withMountAt(places.repository)).not.toEqual([]);
      host.signal(signal);
      await host.exited;
      await eventually(() => mountedIn(places).length === 0, "no mount is left");
    },
  );
});

describe("random schedules of start, yield, write, interrupt, unload, and the end of the host", () => {
  it(
    `[PROC-10] leave no process, no mount and no file, ${SCHEDULES} of them`,
    async () => {
      for (let seed = FIRST; seed < FIRST + SCHEDULES; seed++) {
        const places = {
          home: await freshFolder(),
          temporary: await freshFolder("temporary"),
          repository: await repository(),
        };
        const random = new Random(seed);
        const mark = `schedule-${process.pid}-${seed}`;
        const before = await listing(places.repository);
        try {
          await life(places, mark, random);
          if (random.chance(0.3)) await life(places, mark, random);
          await nextStart(places);
          expect(readdirSync(places.temporary)).toEqual([]);
          expect(await listing(places.repository)).toEqual(before);
        } catch (cause) {
          throw new Error(`repeat it with BOBBIN_SCHEDULE=${seed}`, { cause });
        }
      }
    },
    Math.max(120_000, SCHEDULES * 15_000),
  );
});
