import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { type HostProcess, spawnHost, stdioHost } from "../support/host-process.ts";
import { watchdogOf, withMark } from "../support/processes.ts";
import type { WireClient } from "../support/wire-client.ts";

const EXPERIMENTAL = { experimentalApi: true };

/** A program, a child in its group, one in a session of its own, and one that init adopted; none of them reads or writes. */
const FAMILY = "sleep 1000 & setsid sleep 1000 & (setsid setsid sleep 1000 >/dev/null 2>&1 &) ; sleep 1000";

let families = 0;

/** Starts a family; resolves when all of it runs. */
async function family(client: WireClient, more: object = {}): Promise<{ mark: string; handle: string }> {
  const mark = `family-${process.pid}-${++families}`;
  await client.call("process/spawn", {
    command: ["sh", "-c", FAMILY],
    cwd: "/",
    processHandle: mark,
    timeoutMs: null,
    env: { FAMILY: mark },
    ...more,
  });
  await eventually(() => withMark(mark).length >= 5, "the family runs");
  return { mark, handle: mark };
}

const gone = (mark: string): Promise<void> =>
  eventually(() => withMark(mark).length === 0, "none of the family is left");

/** The mark of a host, from the record in its home. */
function hostMark({ home }: HostProcess): string {
  const [record] = readdirSync(join(home, "processes"));
  return record!.replace(/\.lock$/, "");
}

async function kill(host: HostProcess): Promise<void> {
  host.signal("SIGKILL");
  await host.exited;
}

describe("after a host was killed", () => {
  it.each([{ tty: false }, { tty: true }])(
    "[PROC-10] nothing that it started is left, with %j, and no watchdog",
    async (way) => {
      const { host, client } = await stdioHost({ capabilities: EXPERIMENTAL });
      const { mark } = await family(client, way);
      const watchdog = hostMark(host);
      expect(watchdogOf(watchdog)).toHaveLength(1);
      await kill(host);
      await gone(mark);
      await eventually(() => watchdogOf(watchdog).length === 0, "the watchdog is gone");
    },
  );

  it("[PROC-11] the next start ends its processes, if its watchdog was killed as well", async () => {
    const home = await freshFolder();
    const { host, client } = await stdioHost({ home, capabilities: EXPERIMENTAL });
    const { mark } = await family(client);
    const [watchdog] = watchdogOf(hostMark(host));
    process.kill(watchdog!, "SIGKILL");
    await kill(host);
    expect(withMark(mark).length).toBeGreaterThan(3);
    const next = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"] });
    await next.join();
    await gone(mark);
    await eventually(() => readdirSync(join(home, "processes")).length === 0, "the record is gone");
  });

  it("processes of another host on the same home go on", async () => {
    const home = await freshFolder();
    const [one, other] = [
      await stdioHost({ home, capabilities: EXPERIMENTAL }),
      await stdioHost({ home, capabilities: EXPERIMENTAL }),
    ];
    const [mine, others] = [await family(one.client), await family(other.client)];
    await kill(one.host);
    await gone(mine.mark);
    const third = await stdioHost({ home });
    await eventually(() => readdirSync(join(home, "processes")).length === 1, "the record is gone");
    expect(withMark(others.mark).length).toBeGreaterThan(3);
    third.host.signal("SIGTERM");
    await third.host.exited;
    expect(withMark(others.mark).length).toBeGreaterThan(3);
  });
});

describe("a program that leaves others in sessions of their own", () => {
  it("[PROC-12] is ended with them when it is killed, and when its connection ends", async () => {
    const host = await spawnHost({ args: ["--listen", "ws://127.0.0.1:0"] });
    const client = await host.join(undefined, EXPERIMENTAL);
    const killed = await family(client);
    const left = await family(client);
    await client.call("process/kill", { processHandle: killed.handle });
    await gone(killed.mark);
    expect(withMark(left.mark).length).toBeGreaterThan(3);
    await client.cut();
    await gone(left.mark);
  });

  it("[PROC-12] is ended with them when the host ends normally, and so is the watchdog", async () => {
    const { host, client } = await stdioHost({ capabilities: EXPERIMENTAL });
    const { mark } = await family(client);
    const watchdog = hostMark(host);
    host.signal("SIGTERM");
    expect(await host.exited).toEqual({ code: 0, signal: null });
    expect(withMark(mark)).toEqual([]);
    expect(watchdogOf(watchdog)).toEqual([]);
    expect(readdirSync(join(host.home, "processes"))).toEqual([]);
  });

  it("gets a new watchdog after the first was killed", async () => {
    const { host, client } = await stdioHost({ capabilities: EXPERIMENTAL });
    await family(client);
    const mark = hostMark(host);
    const [first] = watchdogOf(mark);
    process.kill(first!, "SIGKILL");
    await eventually(() => watchdogOf(mark).length === 0, "the watchdog is gone");
    let second = await family(client);
    // The host may hear of the end a moment after we do.
    await eventually(async () => {
      if (watchdogOf(mark).length === 1) return true;
      second = await family(client);
      return false;
    }, "the next program has a watchdog");
    await kill(host);
    await gone(second.mark);
  });
});

describe("what a thread's command leaves running", () => {
  it("[PROC-12] lives on after the command, and ends when the thread is unloaded", async () => {
    const { client } = await stdioHost({ capabilities: EXPERIMENTAL });
    const threadId = await client.startThread();
    const mark = `daemon-${process.pid}`;
    // What has not left the group of the command yet ends with it.
    const command = `DAEMON=${mark} setsid sleep 1000 >/dev/null 2>&1 & sleep 0.5`;
    await client.call("thread/shellCommand", { threadId, command });
    await client.waitFor(({ method }) => method === "turn/completed", "turn/completed");
    await eventually(() => withMark(mark).length === 1, "it runs");
    await client.call("thread/unload", { threadId });
    expect(withMark(mark)).toEqual([]);
  });
});

it("a host that starts no program has no watchdog", async () => {
  const { host, client } = await stdioHost();
  await client.call("thread/start");
  expect(readdirSync(host.home)).not.toContain("processes");
});
