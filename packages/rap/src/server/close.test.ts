import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../../../../test/support/eventually.ts";
import { freshFolder } from "../../../../test/support/folder.ts";
import { RapWorld } from "../../../../test/support/rap-world.ts";
import { bearer, type ClosedThread, type Tool, type ToolContext, type ToolServer, tool } from "./index.ts";
import { folderData } from "./node/index.ts";

const HOUR = 3_600_000;

const HOSTILE = [
  "",
  ".",
  "..",
  "../..",
  "../threads",
  "../../../../../../etc/passwd",
  "..%2f..%2f",
  "/",
  "/etc",
  "C:\\Windows",
  "\\\\server\\share",
  "thread_1/",
  "./thread_1",
  "thread_1\0",
  "thread_1\0.txt",
  "\0",
  "THREAD_1",
  "thread_1 ",
  "ｔhread_1",
  "thread_1\u202e",
  "e\u0301".repeat(100),
  "\ud800",
  "*",
  "$(rm -rf /)",
  "'; drop table threads; --",
  "__proto__",
  "x".repeat(10_240),
  null,
  true,
  1,
  { toString: "thread_1" },
  ["thread_1"],
];

/** A tool that runs a function of the test with the call's context. */
function doing(does: (ctx: ToolContext) => unknown): Tool {
  return tool({ name: "do", description: "Does.", run: async (_, ctx) => String(await does(ctx)) });
}

const close = (world: RapWorld, server: ToolServer, thread_id: unknown = "thread_1"): Promise<Response> =>
  world.post(server, "/close_thread", { thread_id });

interface Opened {
  readonly of: string;
  closed: number;
}

/** A server whose calls open a resource for their thread. */
function opening(world: RapWorld, more: object = {}) {
  const opened: Opened[] = [];
  const server = world.server({
    tools: [
      doing(async ({ thread }) => {
        const shell = await thread.resource(
          "shell",
          () => {
            const one = { of: thread.id, closed: 0 };
            opened.push(one);
            return one;
          },
          (one) => void one.closed++,
        );
        return opened.indexOf(shell);
      }),
    ],
    ...more,
  });
  return { server, opened };
}

describe("a resource of a thread", () => {
  it("is opened once, and shared by the calls of its thread alone", async () => {
    const world = new RapWorld();
    const { server, opened } = opening(world);
    await Promise.all(["a", "b", "c"].map((id) => world.call(server, "do", {}, { id })));
    await world.call(server, "do", {}, { id: "d", thread: "thread_2" });
    await world.arrived(4);
    expect(opened.map(({ of }) => of)).toEqual(["thread_1", "thread_2"]);
    expect(world.texts().map(String).toSorted()).toEqual(["0", "0", "0", "1"]);
  });

  it("that could not be opened is opened by the next call", async () => {
    const world = new RapWorld();
    let tries = 0;
    const flaky = (): string => {
      if (++tries === 1) throw new Error("not yet");
      return "open";
    };
    const server = world.server({ tools: [doing(({ thread }) => thread.resource("x", flaky, () => {}))] });
    expect((await world.result(server, "do", {}, { id: "a" })).text).toMatch(/^Error/);
    expect((await world.result(server, "do", {}, { id: "b" })).text).toBe("open");
  });
});

describe("a closed thread", () => {
  it("[RAPS-60] [RAPS-61] is acknowledged with an empty 200 and loses its resources, once, and no other thread does", async () => {
    const world = new RapWorld();
    const { server, opened } = opening(world);
    expect((await close(world, server)).status).toBe(200);
    await world.result(server, "do", {}, { id: "a" });
    await world.result(server, "do", {}, { id: "b", thread: "thread_2" });
    for (let times = 0; times < 3; times++) {
      const response = await close(world, server);
      expect([response.status, await response.text()]).toEqual([200, ""]);
    }
    expect((await close(world, server, "never seen")).status).toBe(200);
    await world.quiet();
    expect(opened).toEqual([
      { of: "thread_1", closed: 1 },
      { of: "thread_2", closed: 0 },
    ]);
    expect(world.logs).toEqual([]);
  });

  it("[RAPS-61] has its calls aborted before their resources are closed", async () => {
    const world = new RapWorld();
    const steps: string[] = [];
    const server = world.server({
      tools: [
        doing(async ({ thread, signal }) => {
          await thread.resource(
            "x",
            () => "x",
            () => void steps.push("closed"),
          );
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          steps.push(String(signal.reason.why));
          await world.quiet();
          steps.push("call ended");
          return "partial";
        }),
      ],
    });
    await world.call(server, "do");
    await world.quiet();
    await close(world, server);
    await eventually(() => steps.length === 3, "all of it ends");
    // The first entry is the abort reason of the call, the last one its closed resource.
    expect(steps).toEqual(["closed", "call ended", "closed"]);
    expect((await world.next("tool_result")).text).toBe("partial");
  });

  it("[RAPS-61] gives no resource to a call that ignores its abort signal", async () => {
    const world = new RapWorld();
    let late: Promise<unknown> | undefined;
    const server = world.server({
      tools: [
        doing(async ({ thread, signal }) => {
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          late = thread.resource(
            "x",
            () => "leak",
            () => {},
          );
          return late;
        }),
      ],
    });
    await world.call(server, "do");
    await world.quiet();
    await close(world, server);
    await world.quiet();
    await expect(late).rejects.toThrow("The thread was closed.");
  });

  it("[RAPS-62] is answered before its cleanup has ended", async () => {
    const world = new RapWorld();
    let finish = (): void => {};
    const steps: string[] = [];
    const slow = (): Promise<void> =>
      new Promise((resolve) => {
        finish = () => {
          steps.push("cleaned up");
          resolve();
        };
      });
    const server = world.server({ tools: [doing(({ thread }) => thread.resource("x", () => "x", slow))] });
    await world.result(server, "do");
    expect((await close(world, server)).status).toBe(200);
    await world.quiet();
    expect(steps).toEqual([]);
    finish();
    expect(steps).toEqual(["cleaned up"]);
  });

  it("[RAPS-63] logs failures of its cleanup, and cleans up the rest", async () => {
    const world = new RapWorld();
    const closed: string[] = [];
    const server = world.server({
      onThreadClosed: () => {
        throw new Error("the hook broke");
      },
      tools: [
        doing(async ({ thread }) => {
          await thread.resource(
            "first",
            () => "",
            () => void closed.push("first"),
          );
          await thread.resource(
            "stuck",
            () => "",
            () => new Promise<void>(() => {}),
          );
          await thread.resource(
            "broken",
            () => "",
            async () => {
              throw new Error("it broke");
            },
          );
        }),
      ],
    });
    await world.result(server, "do");
    expect((await close(world, server)).status).toBe(200);
    await world.advance(60_000);
    expect(closed).toEqual(["first"]);
    expect(world.logs.map(({ says }) => says)).toEqual([
      'closing the resource "broken" failed',
      'closing the resource "stuck" takes too long',
      "the hook of a closed thread failed",
    ]);
  });

  it("[RAPS-64] whose closing is never announced expires, but not while it is used", async () => {
    const world = new RapWorld();
    const { server, opened } = opening(world, { limits: { threadTtlMs: HOUR } });
    await world.result(server, "do", {}, { id: "a" });
    await world.advance(HOUR - 120_000);
    await world.result(server, "do", {}, { id: "b" });
    await world.advance(HOUR - 120_000);
    expect(opened).toEqual([{ of: "thread_1", closed: 0 }]);
    await world.advance(200_000);
    expect(opened).toEqual([{ of: "thread_1", closed: 1 }]);
  });

  it("[RAPS-64] does not expire while a call runs, however long that takes", async () => {
    const world = new RapWorld();
    const closed: string[] = [];
    let end: (text: string) => void = () => {};
    const server = world.server({
      limits: { threadTtlMs: HOUR },
      tools: [
        doing(async ({ thread, signal }) => {
          await thread.resource(
            "x",
            () => "x",
            () => void closed.push("x"),
          );
          await new Promise<string>((resolve) => {
            end = resolve;
          });
          return signal.aborted;
        }),
      ],
    });
    await world.call(server, "do");
    await world.advance(3 * HOUR);
    expect(closed).toEqual([]);
    end("now");
    expect((await world.next("tool_result")).text).toBe("false");
    await world.advance(HOUR - 120_000);
    expect(closed).toEqual([]);
    await world.advance(200_000);
    expect(closed).toEqual(["x"]);
  });

  it("[RAPS-65] starts anew with its next call", async () => {
    const world = new RapWorld();
    const { server, opened } = opening(world);
    await world.result(server, "do", {}, { id: "a" });
    await close(world, server);
    expect((await world.result(server, "do", {}, { id: "b" })).text).toBe("1");
    expect(opened.map(({ closed }) => closed)).toEqual([1, 0]);
  });

  it("[RAPS-65] starts anew after the cleanup of the old one has ended", async () => {
    const world = new RapWorld();
    const data = folderData(await freshFolder("rap"));
    let cleaned = (): void => {};
    const gate = new Promise<void>((resolve) => {
      cleaned = resolve;
    });
    const server = world.server({
      data,
      onThreadClosed: () => gate,
      tools: [
        doing(async ({ thread }) => {
          const folder = await thread.directory();
          const before = await readdir(folder);
          await writeFile(join(folder, `file-${before.length}`), "x");
          return before.length;
        }),
      ],
    });
    expect((await world.result(server, "do", {}, { id: "a" })).text).toBe("0");
    expect((await world.result(server, "do", {}, { id: "b" })).text).toBe("1");
    await close(world, server);
    const before = world.posts.length;
    await world.call(server, "do", {}, { id: "c" });
    await world.quiet();
    expect(world.posts.length).toBe(before);
    cleaned();
    expect((await world.next("tool_result", before)).text).toBe("0");
    expect((await world.result(server, "do", {}, { id: "d" })).text).toBe("1");
    await server.close();
  });

  it("[RAPS-66] [RAPS-70] needs credentials, and only its own host can close it", async () => {
    const world = new RapWorld();
    const auth = bearer({ blue: "blue-token", green: "green-token" });
    const { server, opened } = opening(world, { auth });
    await world.result(server, "do", {}, { headers: { Authorization: "Bearer blue-token" } });
    const told = async (headers: Record<string, string>): Promise<[number, string, number]> => {
      const response = await world.post(server, "/close_thread", { thread_id: "thread_1" }, headers);
      await world.quiet();
      return [response.status, await response.text(), opened[0]!.closed];
    };
    expect(await told({})).toEqual([401, "", 0]);
    expect(await told({ Authorization: "Bearer wrong-token" })).toEqual([401, "", 0]);
    expect(await told({ Authorization: "Bearer green-token" })).toEqual([200, "", 0]);
    expect(await told({ Authorization: "Bearer blue-token" })).toEqual([200, "", 1]);
  });

  it("[RAPS-67] is limited in its rate: 500 a second pass, and far more do not", async () => {
    const world = new RapWorld();
    const { server } = opening(world);
    for (let second = 0; second < 4; second++) {
      for (let times = 0; times < 500; times++) {
        expect((await close(world, server, `thread_${second}_${times}`)).status).toBe(200);
        world.time += 2;
      }
    }
    for (let times = 0; times < 500; times++) expect((await close(world, server)).status).toBe(200);
    let refused = 0;
    for (let times = 0; times < 3000; times++) {
      const response = await close(world, server);
      if (response.status !== 429) continue;
      refused++;
      expect(response.headers.get("Retry-After")).toBe("1");
      expect(await response.text()).toBe("");
    }
    expect(refused).toBeGreaterThan(1000);
  });
});

describe("a folder of a thread", () => {
  /** Writes a file into the thread's folder, and returns the folder's path. */
  const writing = doing(async ({ thread, callId }) => {
    const folder = await thread.directory();
    await writeFile(join(folder, callId), "work");
    return folder;
  });

  it("[RAPS-61] belongs to one thread, has no id in its path, and is deleted with the thread", async () => {
    const world = new RapWorld();
    const root = await freshFolder("rap");
    const server = world.server({ data: folderData(root), tools: [writing] });
    const { text: one } = await world.result(server, "do", {}, { id: "a" });
    const { text: again } = await world.result(server, "do", {}, { id: "b" });
    const { text: other } = await world.result(server, "do", {}, { id: "c", thread: "thread_2" });
    expect(again).toBe(one);
    expect(other).not.toBe(one);
    expect(one).toMatch(new RegExp(`^${root}/threads/[0-9a-f]{64}$`));
    expect((await stat(one!)).mode & 0o777).toBe(0o700);
    expect(await readdir(one!)).toEqual(["a", "b"]);
    await close(world, server);
    await eventually(async () => (await readdir(dirname(one!))).length === 1, "the folder goes");
    expect(await readdir(other!)).toEqual(["c"]);
    await eventually(async () => (await readdir(join(root, "trash"))).length === 0, "the trash is emptied");
  });

  it("[RAPS-68] cannot be escaped by any id, and no id reads or deletes another thread's folder", async () => {
    const world = new RapWorld();
    const outside = await freshFolder("outside");
    const root = join(outside, "data");
    await mkdir(root);
    await writeFile(join(outside, "precious"), "mine");
    const closed: ClosedThread[] = [];
    const server = world.server({
      data: folderData(root),
      tools: [writing],
      onThreadClosed: (thread) => void closed.push(thread),
    });
    const { text: kept } = await world.result(server, "do");
    for (const hostile of HOSTILE) {
      const response = await close(world, server, hostile);
      expect([response.status, await response.text()], JSON.stringify(hostile)).toEqual([200, ""]);
    }
    for (const body of ["", "{", "[]", '"thread_1"', "x".repeat(100_000)])
      expect((await world.post(server, "/close_thread", body)).status).toBe(200);
    await world.quiet();
    expect(closed).toEqual([]);
    expect(await readdir(kept!)).toEqual(["call_1"]);
    expect(await readFile(join(outside, "precious"), "utf8")).toBe("mine");

    // Valid ids get folders, whatever they look like.
    const ids = HOSTILE.filter((id) => typeof id === "string").filter((id) => id !== "");
    let taken = 0;
    for (const thread of ids)
      if ((await world.call(server, "do", {}, { id: "call_2", thread })).status === 200) taken++;
    // Invalid ids are refused, and the host also gets an error result.
    await world.arrived(1 + ids.length);
    const folders = world.texts().filter((text) => !text!.startsWith("Error: The call cannot be read"));
    expect(folders).toHaveLength(1 + taken);
    for (const folder of folders) expect(dirname(folder!)).toBe(join(root, "threads"));
    expect(new Set(folders).size).toBe(folders.length);
    expect(folders.length).toBeGreaterThan(15);
    for (const thread of ids) await close(world, server, thread);
    await eventually(async () => (await readdir(join(root, "threads"))).length === 1, "all of them go");
    expect(await readdir(kept!)).toEqual(["call_1"]);
    expect((await readdir(outside)).toSorted()).toEqual(["data", "precious"]);
    expect(world.logs).toEqual([]);
    await server.close();
  });

  it("[RAPS-68] is deleted with the symlinks in it, and not with their targets", async () => {
    const world = new RapWorld();
    const outside = await freshFolder("outside");
    await writeFile(join(outside, "precious"), "mine");
    const linking = doing(async ({ thread }) => {
      const folder = await thread.directory();
      await symlink(outside, join(folder, "link"));
      return folder;
    });
    const root = await freshFolder("rap");
    const server = world.server({ data: folderData(root), tools: [linking] });
    await world.result(server, "do");
    await close(world, server);
    await eventually(async () => (await readdir(join(root, "threads"))).length === 0, "the folder goes");
    await eventually(async () => (await readdir(join(root, "trash"))).length === 0, "the trash is emptied");
    expect(await readFile(join(outside, "precious"), "utf8")).toBe("mine");
  });

  it("[RAPS-63] is set aside, and not deleted, if the onThreadClosed hook fails", async () => {
    const world = new RapWorld();
    const root = await freshFolder("rap");
    const server = world.server({
      data: folderData(root),
      tools: [writing],
      onThreadClosed: async () => {
        throw new Error("no space left");
      },
    });
    const { text: folder } = await world.result(server, "do");
    await close(world, server);
    await eventually(() => world.logs.length === 2, "it is told");
    const [name] = await readdir(join(root, "aside"));
    expect(await readdir(join(root, "aside", name!))).toEqual(["call_1"]);
    expect(world.logs[1]).toMatchObject({ thread: "thread_1", path: join(root, "aside", name!) });
    expect((await world.result(server, "do", {}, { id: "call_2" })).text).toBe(folder);
    expect(await readdir(folder!)).toEqual(["call_2"]);
  });

  it("[RAPS-69] is deleted when the thread is closed after a restart, and the hook is called", async () => {
    const world = new RapWorld();
    const data = folderData(await freshFolder("rap"));
    const first = world.life(data);
    const before = world.server({ tools: [writing], ...first.options });
    const { text: folder } = await world.result(before, "do");
    first.kill();
    const closed: ClosedThread[] = [];
    const server = world.server({
      data,
      tools: [writing],
      onThreadClosed: (thread) => void closed.push(thread),
    });
    await close(world, server);
    await eventually(async () => (await readdir(dirname(folder!))).length === 0, "the folder goes");
    expect(closed).toEqual([{ id: "thread_1", directory: folder, reason: "closed" }]);
  });

  it("[RAPS-64] is deleted when the thread expires, also after a restart", async () => {
    const world = new RapWorld();
    const data = folderData(await freshFolder("rap"));
    const limits = { threadTtlMs: HOUR };
    const first = world.server({ data, tools: [writing], limits });
    const { text: folder } = await world.result(first, "do");
    await first.close();
    expect(await readdir(folder!)).toEqual(["call_1"]);
    await world.advance(HOUR / 2);
    const closed: ClosedThread[] = [];
    const server = world.server({
      data,
      tools: [writing],
      limits,
      onThreadClosed: (one) => void closed.push(one),
    });
    await server.start();
    await world.advance(HOUR / 2 - 60_000);
    expect(await readdir(folder!)).toEqual(["call_1"]);
    await world.advance(121_000);
    await eventually(async () => (await readdir(dirname(folder!))).length === 0, "the folder goes");
    expect(closed).toEqual([{ id: "thread_1", directory: folder, reason: "expired" }]);
    await eventually(async () => (await data.store.list("thread ")).length === 0, "it is forgotten");
  });
});
