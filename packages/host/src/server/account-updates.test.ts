import { expect, it } from "vitest";
import type { CurrentAccount } from "../account/current-account.ts";
import { Supervisor } from "../observe/supervise.ts";
import type { WatchedChange } from "../platform/machine-file-access.ts";
import { AccountUpdates } from "./account-updates.ts";

const HOME = "/home";
const keyed = (token: string): CurrentAccount => ({
  authMode: "apikey",
  planType: null,
  account: { type: "apiKey" },
  token,
  accountId: null,
});
const chatgpt = (email: string, token: string): CurrentAccount => ({
  authMode: "chatgpt",
  planType: "plus",
  account: { type: "chatgpt", email, planType: "plus", workspaceName: null },
  token,
  accountId: "one",
});

/** An account, the processes that change it, and the notifications to clients. */
async function stage() {
  const heard: (string | undefined)[] = [];
  const timers: (() => void)[] = [];
  const failures: string[] = [];
  const supervisor = new Supervisor({
    debug() {},
    info() {},
    warn() {},
    error: (message) => failures.push(message),
  });
  const world: { account: CurrentAccount | undefined; reading: Promise<void> } = {
    account: undefined,
    reading: Promise.resolve(),
  };
  /** By folder. */
  const watching = new Map<string, (change: WatchedChange) => void>();
  const folders = new Set([HOME, `${HOME}/credentials`]);
  const watch = (path: string, changed: (change: WatchedChange) => void) => {
    if (!folders.has(path)) throw Object.assign(new Error("no such folder"), { code: "ENOENT" });
    watching.set(path, changed);
    return {
      close: () => {
        if (watching.get(path) === changed) watching.delete(path);
      },
    };
  };
  const news = new AccountUpdates({
    accounts: {
      current: async () => {
        const { account } = world;
        await world.reading;
        return account;
      },
    },
    path: `${HOME}/credentials/account.json`,
    isWatched: true,
    watch,
    timers: {
      soon: (run) => run(),
      after: (_ms, run) => {
        timers.push(run);
        return () => {
          if (timers.includes(run)) timers.splice(timers.indexOf(run), 1);
        };
      },
    },
    supervisor,
    notify: (account) => heard.push(account?.token),
  });
  const pass = async (): Promise<void> => {
    while (timers.length > 0) {
      for (const run of timers.splice(0)) run();
      await supervisor.settled();
    }
  };
  return {
    news,
    world,
    heard,
    failures,
    folders,
    watching,
    pass,
    /** Another process has changed the file, or something else. */
    changed: (name = "account.json", folder = `${HOME}/credentials`) =>
      watching.get(folder)?.({ kind: "entry", name }),
  };
}

it("[ACCT-15] notifies of an account that another process has changed, and not of its refreshed tokens", async () => {
  const { news, world, heard, changed, pass, failures } = await stage();
  news.begin();
  news.begin();
  await pass();
  for (const account of [
    keyed("a"),
    keyed("b"),
    chatgpt("x", "c"),
    chatgpt("x", "d"),
    chatgpt("y", "e"),
    undefined,
  ]) {
    world.account = account;
    changed();
    changed();
    await pass();
  }
  expect(heard).toEqual(["a", "b", "c", "e", undefined]);
  expect(failures).toEqual([]);
});

it("[ACCT-15] notifies of what changed between a client's look and the begin of the watch", async () => {
  const { news, world, heard, pass } = await stage();
  news.begin();
  news.shown(undefined);
  world.account = keyed("a");
  news.shown(world.account);
  await pass();
  expect(heard).toEqual(["a"]);
});

it("[ACCT-15] leaves a change of this host to the request that makes it, whenever its file is seen", async () => {
  const { news, world, heard, changed, pass } = await stage();
  news.begin();
  await pass();
  await news.during(async () => {
    world.account = keyed("a");
    changed();
    await pass();
    expect(heard).toEqual([]);
    news.changed(world.account);
  });
  await pass();
  expect(heard).toEqual(["a"]);
  world.account = chatgpt("x", "b");
  news.storingLogin();
  changed();
  await pass();
  expect(heard).toEqual(["a"]);
  news.changed(world.account);
  news.loginEnded();
  await pass();
  expect(heard).toEqual(["a", "b"]);
});

it("[ACCT-15] takes nothing from before a change of this host for news", async () => {
  const { news, world, heard, changed, pass } = await stage();
  news.begin();
  await pass();
  let read!: () => void;
  world.reading = new Promise((resolve) => (read = resolve));
  changed();
  const passing = pass();
  world.account = keyed("a");
  await news.during(async () => news.changed(world.account));
  read();
  await passing;
  await pass();
  expect(heard).toEqual(["a"]);
});

it("[ACCT-15] watches nothing after its end", async () => {
  const { news, world, heard, changed, pass, watching } = await stage();
  news.begin();
  await pass();
  changed();
  news.close();
  news.close();
  world.account = keyed("a");
  await pass();
  expect(heard).toEqual([]);
  expect(watching.size).toBe(0);
});

it("[ACCT-15] sees a folder that comes later, or in place of the one before, and looks at nothing else", async () => {
  const { news, world, heard, folders, watching, changed, pass } = await stage();
  const folder = `${HOME}/credentials`;
  folders.delete(folder);
  news.begin();
  await pass();
  expect([...watching.keys()]).toEqual([HOME]);
  world.account = keyed("a");
  changed("threads.sqlite", HOME);
  await pass();
  expect(heard).toEqual([]);
  folders.add(folder);
  changed("credentials", HOME);
  await pass();
  expect(heard).toEqual(["a"]);
  world.account = keyed("b");
  changed("other.json");
  await pass();
  expect(heard).toEqual(["a"]);
  changed();
  await pass();
  const before = watching.get(folder);
  before!({ kind: "unsure" });
  await pass();
  expect(watching.get(folder)).not.toBe(before);
  world.account = keyed("c");
  changed();
  await pass();
  expect(heard).toEqual(["a", "b", "c"]);
});
