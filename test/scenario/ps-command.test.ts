// `bobbin ps` and `bobbin threads unload`: what is loaded, and why.
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";
import { type Run, runBobbin } from "../support/run-bobbin.ts";

const bobbin = (home: string, ...args: readonly string[]): Promise<Run> =>
  runBobbin(args, { env: { BOBBIN_HOME: home } });

it("[TERM-4] [CONSOLE-27] bobbin ps says which threads are loaded and why, and unload why it refuses", async () => {
  const host = await spawnHost({ args: ["--listen", "ws://127.0.0.1:0"] });
  const client = await host.join(undefined, { experimentalApi: true });
  const { home } = host;
  const empty = await bobbin(home, "ps");
  expect(empty.stdout).toMatch(new RegExp(`^Host, process ${host.pid}, memory \\d+ MB: 0 threads loaded\n$`));
  const running = await client.startThread();
  await client.speaking(running);
  const asking = await client.startThread();
  await client.say(asking, "ask: Tea or coffee? | Tea | Coffee");
  await client.about(asking, "item/tool/requestUserInput");
  const left = await client.startThread();
  await client.turn(left, "Hello!");
  await client.call("thread/unsubscribe", { threadId: left });
  const { stdout } = await bobbin(home, "ps");
  const why = (id: string) => new RegExp(`    ${id}  \\S+\n    (.*)\n`).exec(stdout)?.[1];
  expect(stdout).toContain(": 3 threads loaded\n");
  expect(why(running)).toMatch(/^a turn is running; 1 client follows it; about \d+ kB in memory$/);
  expect(why(asking)).toMatch(
    /^a turn is running; 1 question waits for an answer; .*1 client follows it; about \d+ kB in memory$/,
  );
  expect(why(left)).toMatch(/^is unloaded in (29|30) min; about \d+ kB in memory$/);
  const { hosts } = JSON.parse((await bobbin(home, "ps", "--json")).stdout);
  expect(hosts[0]).toMatchObject({ process: { id: host.pid } });

  const unload = (...args: string[]) => bobbin(home, "threads", "unload", ...args);
  expect(await unload(left)).toMatchObject({ code: 0, stdout: `Unloaded ${left}.\n` });
  expect(await unload(left)).toMatchObject({ code: 0, stdout: `${left} was not loaded.\n` });
  const idle = await client.startThread();
  await client.turn(idle, "Hello!");
  expect(await unload(idle)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("1 other client uses it"),
  });
  await client.call("thread/unsubscribe", { threadId: running });
  expect(await unload(running)).toMatchObject({ code: 1, stderr: expect.stringContaining("--interrupt") });
  expect(await unload(running, "--interrupt")).toMatchObject({ code: 0, stdout: `Unloaded ${running}.\n` });
});

it("[TERM-4] bobbin ps names threads that a host on stdio has loaded", async () => {
  const home = await freshFolder("home");
  const none = await bobbin(home, "ps");
  expect(none).toMatchObject({ code: 0, stdout: expect.stringContaining("bobbin app-server --listen") });
  const host = await spawnHost({ home });
  const client = host.stdio();
  await client.initialize();
  const threadId = await client.startThread();
  await client.turn(threadId, "Hello!");
  const expected = new RegExp(`^Loaded by programs .*\n  Hello!\n    ${threadId}  `);
  // The host writes rows of the index a little later than its journals (docs/journal.md).
  await eventually(async () => expected.test((await bobbin(home, "ps")).stdout), "ps names the thread");
});
