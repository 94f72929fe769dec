import {
  appendFileSync,
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { type HostProcess, spawnHost, stdioHost } from "../support/host-process.ts";
import { KEY, signedBearer } from "../support/signed-token.ts";
import type { WireClient } from "../support/wire-client.ts";

const SOCKET = ["--listen", "ws://127.0.0.1:0"];

/** Does something, and waits until a watch has reported all of these paths for it. */
async function reports(client: WireClient, watchId: string, paths: readonly string[], act: () => void) {
  const from = client.frames.length;
  act();
  const seen = new Set<string>();
  await client.until(
    () => {
      for (const { method, params } of client.frames.slice(from))
        if (method === "fs/changed" && params.watchId === watchId)
          for (const path of params.changedPaths) seen.add(path);
      return paths.every((path) => seen.has(path));
    },
    `report of ${paths.join(", ")}`,
  );
  return seen;
}

/** How an editor saves a file. */
function replace(path: string, text: string): void {
  writeFileSync(`${path}~`, text);
  renameSync(`${path}~`, path);
}

/** The host itself watches the folders of the account's file, from some time after the first client has connected. */
const OWN_WATCHES = 2;

/** How many files and folders the host has the system watch. */
function watched({ pid }: HostProcess): number {
  let count = 0;
  for (const fd of readdirSync(`/proc/${pid}/fdinfo`)) {
    try {
      count += readFileSync(`/proc/${pid}/fdinfo/${fd}`, "utf8").match(/^inotify wd:/gm)?.length ?? 0;
    } catch {
      // Closed meanwhile.
    }
  }
  return count;
}

describe("a watched file", () => {
  it("[WATCH-1] is reported when it is changed, replaced, removed and made again, each time", async () => {
    const { client } = await stdioHost();
    const folder = await freshFolder("watch");
    const path = join(folder, "file");
    writeFileSync(path, "one");
    expect(await client.call("fs/watch", { watchId: "w", path: join(folder, ".", "file", "/") })).toEqual({
      path,
    });
    const changes: (() => void)[] = [
      () => appendFileSync(path, "two"),
      () => chmodSync(path, 0o600),
      () => replace(path, "three"),
      () => appendFileSync(path, "four"),
      () => replace(path, "five"),
      () => rmSync(path),
      () => writeFileSync(path, "six"),
      () => renameSync(path, join(folder, "moved")),
      () => renameSync(join(folder, "moved"), path),
      () => appendFileSync(path, "seven"),
      () => rmSync(folder, { recursive: true }),
      () => {
        mkdirSync(folder);
        writeFileSync(path, "eight");
      },
      () => appendFileSync(path, "nine"),
      // The folder above the folder is another one, and nothing in it has changed.
      () => {
        renameSync(folder, `${folder}-moved`);
        mkdirSync(folder);
        writeFileSync(path, "ten");
      },
      () => replace(path, "eleven"),
    ];
    for (const change of changes) expect(await reports(client, "w", [path], change)).toEqual(new Set([path]));
    rmSync(`${folder}-moved`, { recursive: true });
    // Reading changes nothing, and what else is in the folder was not asked for.
    const before = client.count("fs/changed");
    readFileSync(path);
    writeFileSync(join(folder, "other"), "");
    await reports(client, "w", [path], () => appendFileSync(path, "!"));
    expect(client.count("fs/changed")).toBe(before + 1);
  });

  it("[WATCH-1] is reported when it is changed under another of its names", async () => {
    const { client } = await stdioHost();
    const [folder, other] = [await freshFolder("watch"), await freshFolder("watch")];
    writeFileSync(join(folder, "file"), "one");
    linkSync(join(folder, "file"), join(other, "same"));
    await client.call("fs/watch", { watchId: "w", path: join(folder, "file") });
    await reports(client, "w", [join(folder, "file")], () => appendFileSync(join(other, "same"), "two"));
  });
});

describe("a watched folder", () => {
  it("[WATCH-1] is reported when one of its own entries changes, and not for what is deeper", async () => {
    const { client } = await stdioHost();
    const folder = join(await freshFolder("watch"), "folder");
    const at = (...names: string[]): string => join(folder, ...names);
    mkdirSync(at("deep"), { recursive: true });
    writeFileSync(at("file"), "");
    await client.call("fs/watch", { watchId: "w", path: folder });
    const seen = (paths: readonly string[], act: () => void) => reports(client, "w", paths, act);
    expect(
      await seen([at("file")], () => {
        writeFileSync(at("deep", "file"), "");
        appendFileSync(at("file"), "x");
      }),
    ).toEqual(new Set([at("file")]));
    await seen([at("made"), at("file")], () => renameSync(at("file"), at("made")));
    await seen([at("new")], () => mkdirSync(at("new")));
    // An entry may have the name of its folder.
    await seen([at("folder")], () => writeFileSync(at("folder"), ""));
    await seen([at("folder")], () => appendFileSync(at("folder"), "x"));
    await seen([folder], () => chmodSync(folder, 0o700));
    await seen([folder], () => renameSync(folder, `${folder}-moved`));
    await seen([folder, at("early"), at("later")], () => {
      mkdirSync(folder);
      writeFileSync(at("early"), "");
      writeFileSync(at("later"), "");
    });
    expect(await seen([at("more")], () => writeFileSync(at("more"), ""))).toEqual(new Set([at("more")]));
    await seen([folder], () => rmSync(folder, { recursive: true }));
    await seen([folder], () => writeFileSync(folder, "a file now"));
  });

  it("[WATCH-2] reports what changes within a moment at once, sorted and each path once", async () => {
    const { client } = await stdioHost();
    const folder = await freshFolder("watch");
    await client.call("fs/watch", { watchId: "w", path: folder });
    const names = ["c", "a", "b", "a", "c"];
    await reports(
      client,
      "w",
      ["a", "b", "c"].map((name) => join(folder, name)),
      () => {
        for (const name of names) appendFileSync(join(folder, name), "x");
      },
    );
    const [first, ...more] = client.told("fs/changed");
    expect(first!.params).toEqual({
      watchId: "w",
      changedPaths: ["a", "b", "c"].map((name) => join(folder, name)),
    });
    expect(more).toEqual([]);
  });

  it("[WATCH-2] is reported itself when very much in it changes at once", async () => {
    const { client } = await stdioHost();
    const folder = await freshFolder("watch");
    await client.call("fs/watch", { watchId: "w", path: folder });
    await reports(client, "w", [folder], () => {
      for (let nth = 0; nth < 20_000; nth++) writeFileSync(join(folder, `${nth}`), "");
    });
    for (const { params } of client.told("fs/changed"))
      expect(params.changedPaths.length).toBeLessThanOrEqual(1000);
  });
});

describe("a watched path", () => {
  it("[WATCH-3] may not exist yet, and may contain symlinks", async () => {
    const { client } = await stdioHost();
    const folder = await freshFolder("watch");
    const at = (...names: string[]): string => join(folder, ...names);
    await client.call("fs/watch", { watchId: "missing", path: at("no", "such", "file") });
    await reports(client, "missing", [at("no", "such", "file")], () => {
      mkdirSync(at("no", "such"), { recursive: true });
      writeFileSync(at("no", "such", "file"), "");
    });
    await reports(client, "missing", [at("no", "such", "file")], () => rmSync(at("no"), { recursive: true }));

    writeFileSync(at("one"), "");
    writeFileSync(at("two"), "");
    mkdirSync(at("first"));
    mkdirSync(at("second"));
    symlinkSync("one", at("link"));
    symlinkSync(at("first"), at("linked"));
    await client.call("fs/watch", { watchId: "link", path: at("link") });
    await client.call("fs/watch", { watchId: "linked", path: at("linked") });
    await reports(client, "link", [at("link")], () => appendFileSync(at("one"), "x"));
    await reports(client, "link", [at("link")], () => replace(at("one"), "y"));
    await reports(client, "link", [at("link")], () => {
      symlinkSync("two", at("next"));
      renameSync(at("next"), at("link"));
    });
    await reports(client, "link", [at("link")], () => appendFileSync(at("two"), "x"));
    await reports(client, "linked", [at("linked", "file")], () => writeFileSync(at("first", "file"), ""));
    await reports(client, "linked", [at("linked")], () => {
      symlinkSync(at("second"), at("next"));
      renameSync(at("next"), at("linked"));
    });
    await reports(client, "linked", [at("linked", "other")], () => writeFileSync(at("second", "other"), ""));
    expect((await client.refusal("fs/watch", { watchId: "n", path: at("a\0b") })).data.code).toBe(
      "pathWithNul",
    );
  });

  it("[WATCH-3] [FS-8] that a subject redirects out of its roots reports nothing", async () => {
    const top = await freshFolder("top");
    const [work, outside] = [join(top, "work"), join(top, "outside")];
    mkdirSync(join(work, "inside"), { recursive: true });
    mkdirSync(outside);
    symlinkSync("inside", join(work, "link"));
    const home = await freshFolder();
    writeFileSync(join(home, "config.toml"), `[subjects.cara]\nroots = ["${work}"]\n`);
    writeFileSync(join(home, "key"), KEY);
    const auth = ["--ws-auth", "signed-bearer-token", "--ws-shared-secret-file", join(home, "key")];
    const host = await spawnHost({ home, args: [...SOCKET, ...auth] });
    const cara = await host.connect(undefined, signedBearer("cara"));
    await cara.initialize();
    await cara.call("fs/watch", { watchId: "w", path: join(work, "link") });
    await reports(cara, "w", [join(work, "link", "own")], () =>
      writeFileSync(join(work, "inside", "own"), ""),
    );
    const point = (to: string) => () => {
      symlinkSync(to, join(work, "next"));
      renameSync(join(work, "next"), join(work, "link"));
    };
    await reports(cara, "w", [join(work, "link")], point(outside));
    writeFileSync(join(outside, "secret"), "");
    await reports(cara, "w", [join(work, "link")], point("inside"));
    await reports(cara, "w", [join(work, "link", "own")], () =>
      appendFileSync(join(work, "inside", "own"), "x"),
    );
    expect(cara.frames.filter(({ text }) => text.includes("secret"))).toEqual([]);
  });

  it("[WATCH-4] belongs to its connection, and is not reported after the reply to fs/unwatch", async () => {
    const host = await spawnHost({ args: SOCKET });
    const [one, other] = [await host.join(), await host.join()];
    const folder = await freshFolder("watch");
    const path = join(folder, "file");
    await one.call("fs/watch", { watchId: "w", path });
    await other.call("fs/watch", { watchId: "w", path });
    const taken = await one.refusal("fs/watch", { watchId: "w", path: folder });
    expect(taken).toMatchObject({ code: -32600, message: "watchId already exists: w" });
    expect(await other.call("fs/unwatch", { watchId: "none" })).toEqual({});
    await reports(one, "w", [path], () => writeFileSync(path, ""));
    await reports(other, "w", [path], () => appendFileSync(path, "x"));
    appendFileSync(path, "y");
    expect(await one.call("fs/unwatch", { watchId: "w" })).toEqual({});
    const before = one.count("fs/changed");
    await reports(other, "w", [path], () => appendFileSync(path, "z"));
    await one.call("model/list");
    expect(one.count("fs/changed")).toBe(before);
    // The id is free again.
    await one.call("fs/watch", { watchId: "w", path: folder });
    await reports(one, "w", [path], () => appendFileSync(path, "z"));
  });

  it("[WATCH-4] ends with its connection: 100 clients leave nothing behind", async () => {
    const host = await spawnHost({ args: SOCKET });
    const folder = await freshFolder("watch");
    for (let nth = 0; nth < 20; nth++) mkdirSync(join(folder, `${nth}`));
    const clients = await Promise.all(Array.from({ length: 100 }, () => host.join()));
    await Promise.all(
      clients.flatMap((client, nth) => [
        client.call("fs/watch", { watchId: "folder", path: join(folder, `${nth % 20}`) }),
        client.call("fs/watch", { watchId: "file", path: join(folder, `${nth % 20}`, "file") }),
        client.call("fs/watch", { watchId: "missing", path: join(folder, "none", `${nth}`) }),
      ]),
    );
    expect(watched(host)).toBeGreaterThan(20);
    // Those who watch the same thing share what it takes.
    expect(watched(host)).toBeLessThan(60);
    await Promise.all(clients.map((client, nth) => (nth % 2 === 0 ? client.cut() : client.close())));
    await eventually(() => watched(host) <= OWN_WATCHES, "nothing is watched for clients any more");
    const client = await host.join();
    await client.call("fs/watch", { watchId: "folder", path: folder });
    await reports(client, "folder", [join(folder, "file")], () => writeFileSync(join(folder, "file"), ""));
  });

  it("[WATCH-6] is reported in fewer and larger reports to a client that does not read", async () => {
    const host = await spawnHost({ args: SOCKET });
    const [slow, quick] = [await host.join(), await host.join()];
    const folder = await freshFolder("watch");
    const large = join(await freshFolder("large"), "large");
    writeFileSync(large, Buffer.alloc(16 * 1024 * 1024));
    for (const client of [slow, quick]) await client.call("fs/watch", { watchId: "w", path: folder });
    slow.pause();
    slow.send({ id: "large", method: "fs/readFile", params: { path: large } });
    // The reply fills the wire of the one that does not read; the other one shows when reports are due.
    await eventually(() => host.bytesRead() > 16 * 1024 * 1024, "the file was read");
    const paths = ["a", "b", "c", "d"].map((name) => join(folder, name));
    for (const path of paths) await reports(quick, "w", [path], () => writeFileSync(path, ""));
    slow.resume();
    await reports(slow, "w", paths, () => {});
    expect(slow.told("fs/changed").map(({ params }) => params.changedPaths)).toEqual([paths]);
    expect(quick.count("fs/changed")).toBe(4);
  });

  it("[WATCH-7] is one of at most 1024 for a connection", async () => {
    const { host, client } = await stdioHost();
    const folder = await freshFolder("watch");
    const watch = (nth: number) =>
      client.request("fs/watch", { watchId: `${nth}`, path: join(folder, `${nth}`) });
    await Promise.all(Array.from({ length: 1000 }, (_, nth) => watch(nth)));
    for (let nth = 1000; nth < 1024; nth++) expect((await watch(nth)).error).toBeUndefined();
    expect((await watch(1024)).error?.data).toEqual({ code: "tooManyWatches", retryable: true });
    // They are all in one folder.
    expect(watched(host)).toBeLessThan(20);
    await client.call("fs/unwatch", { watchId: "7" });
    expect((await watch(1024)).error).toBeUndefined();
    await reports(client, "1024", [join(folder, "1024")], () => writeFileSync(join(folder, "1024"), ""));
  });
});
