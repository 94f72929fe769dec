import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { eventually, settled } from "../support/eventually.ts";
import { filesBelow, freshFolder } from "../support/folder.ts";
import { spawnHost, stdioHost } from "../support/host-process.ts";
import { makeOddFiles } from "../support/odd-files.ts";
import { KEY, signedBearer } from "../support/signed-token.ts";
import type { WireClient } from "../support/wire-client.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const text = ({ dataBase64 }: { dataBase64: string }): string => Buffer.from(dataBase64, "base64").toString();

/** The code of the error, or the result. */
async function outcome(client: WireClient, method: string, params: object): Promise<unknown> {
  const { error, result } = await client.request(method, params);
  return error === undefined ? result : error.data.code;
}

describe("special files", () => {
  it("[FS-2] are read, listed and stat'ed, or refused with a specific code", async () => {
    const folder = await freshFolder("odd");
    makeOddFiles(folder);
    // For root nothing is locked.
    const uid = process.getuid!() === 0 ? 65_534 : undefined;
    if (uid !== undefined) chownSync(folder, uid, uid);
    onTestFinished(() => chmod(join(folder, "locked"), 0o700));
    const { client } = await stdioHost(uid === undefined ? {} : { uid });
    const read = async (name: string) => {
      const result = await outcome(client, "fs/readFile", { path: join(folder, name) });
      return typeof result === "string" ? result : text(result as { dataBase64: string });
    };
    const names = ["file", "empty", "link", "folder", "link-to-folder", "pipe", "link-to-pipe", "socket"];
    const more = ["link-to-device", "link-to-nowhere", "circle-a", "huge", "none", "none/none", "file/none"];
    const last = ["locked", "locked/inside", "unreadable", "nul\0name", "x".repeat(300), "file/"];
    const found = Object.fromEntries(
      await Promise.all([...names, ...more, ...last].map(async (name) => [name, await read(name)] as const)),
    );
    expect(found).toEqual({
      file: "hello",
      empty: "",
      link: "hello",
      folder: "notAFile",
      "link-to-folder": "notAFile",
      pipe: "notAFile",
      "link-to-pipe": "notAFile",
      socket: "notAFile",
      "link-to-device": "notAFile",
      "link-to-nowhere": "fileNotFound",
      "circle-a": "linkLoop",
      huge: "fileTooLarge",
      none: "fileNotFound",
      "none/none": "fileNotFound",
      "file/none": "notAFolder",
      locked: "notAFile",
      "locked/inside": "fileNotPermitted",
      unreadable: "fileNotPermitted",
      "nul\0name": "pathWithNul",
      [`${"x".repeat(300)}`]: "fileNameTooLong",
      "file/": "hello",
    });
    const binary = await client.call("fs/readFile", { path: join(folder, "binary") });
    expect([...Buffer.from(binary.dataBase64, "base64")]).toEqual([0, 255, 254, 10]);

    const list = (name: string) => outcome(client, "fs/readDirectory", { path: join(folder, name) });
    expect(await list("locked")).toBe("fileNotPermitted");
    expect(await list("pipe")).toBe("notAFolder");
    expect(await list("circle-a")).toBe("linkLoop");
    expect(await list("link-to-folder")).toEqual({
      entries: [{ fileName: "inside", isDirectory: false, isFile: true }],
    });
    const { entries } = (await list("")) as {
      entries: { fileName: string; isFile: boolean; isDirectory: boolean }[];
    };
    const kinds = entries.map((one) => [
      one.fileName,
      one.isFile ? "file" : one.isDirectory ? "folder" : "other",
    ]);
    expect(Object.fromEntries(kinds)).toEqual({
      file: "file",
      empty: "file",
      binary: "file",
      huge: "file",
      unreadable: "file",
      link: "file",
      folder: "folder",
      locked: "folder",
      "link-to-folder": "folder",
      pipe: "other",
      socket: "other",
      "link-to-pipe": "other",
      "link-to-device": "other",
    });

    const look = (name: string) => outcome(client, "fs/getMetadata", { path: join(folder, name) });
    const looked = { createdAtMs: expect.any(Number), modifiedAtMs: expect.any(Number), isDirectory: false };
    expect(await look("pipe")).toEqual({ ...looked, isFile: false, isSymlink: false });
    expect(await look("link")).toEqual({ ...looked, isFile: true, isSymlink: true });
    expect(await look("link-to-device")).toEqual({ ...looked, isFile: false, isSymlink: true });
    expect(await look("link-to-nowhere")).toBe("fileNotFound");
    expect(await look("circle-b")).toBe("linkLoop");
    const { modifiedAtMs } = (await look("file")) as { modifiedAtMs: number };
    expect(modifiedAtMs).toBe(Math.floor(statSync(join(folder, "file")).mtimeMs));
  });

  it("[FS-2] are not written to, and delay no other request", async () => {
    const folder = await freshFolder("odd");
    makeOddFiles(folder);
    onTestFinished(() => chmod(join(folder, "locked"), 0o700));
    const { client } = await stdioHost();
    const path = (name: string): string => join(folder, name);
    // There are four threads for files: had one of these to wait for the other end of a pipe, nothing else would go on.
    const refusals = ["pipe", "link-to-pipe", "socket", "link-to-device", "folder"].flatMap((name) => [
      outcome(client, "fs/readFile", { path: path(name) }),
      outcome(client, "fs/writeFile", { path: path(name), dataBase64: base64("x") }),
      outcome(client, "fs/copy", { sourcePath: path("file"), destinationPath: path(name) }),
    ]);
    expect(await Promise.all([...refusals, ...refusals])).toEqual(
      [...refusals, ...refusals].map(() => expect.stringMatching(/^(notAFile|isAFolder)$/)),
    );
    expect(text(await client.call("fs/readFile", { path: path("file") }))).toBe("hello");
    await client.turn(await client.startThread(), "Hello!");

    const write = (name: string, dataBase64 = base64("x")) =>
      outcome(client, "fs/writeFile", { path: path(name), dataBase64 });
    expect(await write("circle-a")).toBe("linkLoop");
    expect(await write("none/none")).toBe("fileNotFound");
    expect(await write("file/none")).toBe("notAFolder");
    for (const data of ["not base64!", "aGVsbG8", "aGVs\nbG8=", "_-__", "A", "="])
      expect(await write("file", data), data).toBe("badFileData");
    expect(await write("nul\0")).toBe("pathWithNul");
    expect(readFileSync(path("file"), "utf8")).toBe("hello");
    const relative = await client.refusal("fs/readFile", { path: "file" });
    expect(relative).toMatchObject({ code: -32602, data: { code: "invalidParams" } });
    expect(await outcome(client, "fs/remove", { path: "/" })).toBe("fileNotPermitted");
    expect(await outcome(client, "fs/createDirectory", { path: "/proc/none/none" })).toBe("fileNotFound");
    expect(await outcome(client, "fs/createDirectory", { path: path("link-to-nowhere") })).toBe("fileExists");
    expect(await outcome(client, "fs/createDirectory", { path: path("folder"), recursive: false })).toBe(
      "fileExists",
    );
    expect(await outcome(client, "fs/createDirectory", { path: path("folder/a/b/c") })).toEqual({});
    expect(statSync(path("folder/a/b/c")).isDirectory()).toBe(true);
  });

  it("[FS-4] are refused with the limit if they are too large", async () => {
    const folder = await freshFolder("large");
    const { client } = await stdioHost({ capabilities: { experimentalApi: true } });
    writeFileSync(join(folder, "large"), Buffer.alloc(8 * 1024 * 1024, "large"));
    const { dataBase64 } = await client.call("fs/readFile", { path: join(folder, "large") });
    expect(Buffer.from(dataBase64, "base64").equals(readFileSync(join(folder, "large")))).toBe(true);
    const small = { path: join(folder, "large"), maxBytes: 1024 };
    expect((await client.refusal("fs/readFile", small)).message).toBe(
      "file is too large to read: limit is 1024 bytes",
    );
    makeOddFiles(folder);
    onTestFinished(() => chmod(join(folder, "locked"), 0o700));
    expect((await client.refusal("fs/readFile", { path: join(folder, "huge") })).message).toBe(
      "file is too large to read: limit is 50282496 bytes",
    );
    mkdirSync(join(folder, "many"));
    for (let nth = 0; nth < 50_000; nth++) closeSync(openSync(join(folder, "many", `${nth}`), "w"));
    const { entries } = await client.call("fs/readDirectory", { path: join(folder, "many") });
    expect(entries).toHaveLength(50_000);
    writeFileSync(join(folder, "many", "one more"), "");
    expect((await client.refusal("fs/readDirectory", { path: join(folder, "many") })).message).toBe(
      "directory has too many entries: limit is 50000",
    );
  });
});

describe("fs/writeFile", () => {
  it("[FS-3] replaces a file atomically, and keeps its mode, its owner and a symlink to it", async () => {
    const folder = await freshFolder("write");
    const path = (name: string): string => join(folder, name);
    const { client } = await stdioHost();
    writeFileSync(path("script"), "old");
    chmodSync(path("script"), 0o766);
    if (process.getuid!() === 0) chownSync(path("script"), 1234, 1235);
    symlinkSync("script", path("link"));
    symlinkSync(path("made"), path("link-to-nowhere"));
    // A descriptor that was opened before the write still reads the old content.
    const before = openSync(path("script"), "r");
    onTestFinished(() => closeSync(before));
    await client.call("fs/writeFile", { path: path("link"), dataBase64: base64("new") });
    expect(readFileSync(before, "utf8")).toBe("old");
    expect(readFileSync(path("script"), "utf8")).toBe("new");
    expect(lstatSync(path("link")).isSymbolicLink()).toBe(true);
    expect(statSync(path("script")).mode & 0o7777).toBe(0o766);
    if (process.getuid!() === 0) {
      expect([statSync(path("script")).uid, statSync(path("script")).gid]).toEqual([1234, 1235]);
    }
    await client.call("fs/writeFile", { path: path("link-to-nowhere"), dataBase64: base64("made") });
    expect(readFileSync(path("made"), "utf8")).toBe("made");
    expect(statSync(path("made")).mode & 0o777).toBe(0o666 & ~process.umask());
    // Nothing else is left in the folder.
    expect(readdirSync(folder).sort()).toEqual(["link", "link-to-nowhere", "made", "script"]);
  });
});

describe("fs/copy and fs/remove", () => {
  it("[FS-5] copies folders with their symlinks, omits pipes, and does not damage a file that is copied onto itself", async () => {
    const folder = await freshFolder("copy");
    const { client } = await stdioHost();
    makeOddFiles(folder);
    onTestFinished(() => chmod(join(folder, "locked"), 0o700));
    const path = (name: string): string => join(folder, name);
    const copy = (from: string, to: string, recursive?: boolean) =>
      outcome(client, "fs/copy", { sourcePath: path(from), destinationPath: path(to), recursive });
    chmodSync(path("file"), 0o4750);
    expect(await copy("file", "copied")).toEqual({});
    expect(readFileSync(path("copied"), "utf8")).toBe("hello");
    // What a file may do as its owner is not passed on.
    expect(statSync(path("copied")).mode & 0o7777).toBe(0o750);
    for (const to of ["file", "link"]) expect(await copy("file", to)).toEqual({});
    expect(readFileSync(path("file"), "utf8")).toBe("hello");
    expect(await copy("link", "link-copied")).toEqual({});
    expect(readlinkSync(path("link-copied"))).toBe("file");
    expect(await copy("link", "copied")).toBe("fileExists");
    expect(await copy("pipe", "pipe-copied")).toBe("copyNotSupported");
    expect(await copy("none", "none-copied")).toBe("fileNotFound");
    expect(await copy("file", "none/none")).toBe("fileNotFound");
    expect(await copy("folder", "folder-copied")).toBe("copyNotRecursive");
    for (const to of ["folder", "folder/deep/er", "link-to-folder/below"])
      expect(await copy("folder", to, true), to).toBe("copyIntoItself");

    mkdirSync(path("tree/sub"), { recursive: true });
    writeFileSync(path("tree/sub/script"), "script", { mode: 0o755 });
    symlinkSync("../file", path("tree/link"));
    renameSync(path("pipe"), path("tree/pipe"));
    mkdirSync(path("there/sub"), { recursive: true });
    writeFileSync(path("there/sub/script"), "old", { mode: 0o600 });
    writeFileSync(path("there/other"), "other");
    expect(await copy("tree", "there", true)).toEqual({});
    expect(readdirSync(path("there")).sort()).toEqual(["link", "other", "sub"]);
    expect(readlinkSync(path("there/link"))).toBe("../file");
    expect(readFileSync(path("there/sub/script"), "utf8")).toBe("script");
    expect(statSync(path("there/sub/script")).mode & 0o777).toBe(0o755);
    expect(await copy("tree", "made/on/the/way", true)).toEqual({});
    expect(readdirSync(path("made/on/the/way")).sort()).toEqual(["link", "sub"]);
    expect(await copy("tree", "file", true)).toBe("fileExists");
  });

  it("[FS-6] removes symlinks but not their targets, and folders with their contents", async () => {
    const folder = await freshFolder("remove");
    const { client } = await stdioHost();
    makeOddFiles(folder);
    const path = (name: string): string => join(folder, name);
    const remove = (name: string, more: object = {}) =>
      outcome(client, "fs/remove", { path: path(name), ...more });
    expect(await remove("folder", { recursive: false })).toBe("folderNotEmpty");
    expect(await remove("none")).toEqual({});
    expect(await remove("none/none")).toEqual({});
    expect(await remove("none", { force: false })).toBe("fileNotFound");
    expect(await remove("file/none")).toBe("notAFolder");
    for (const name of ["link-to-folder", "link", "circle-a", "pipe", "socket", "huge", "link-to-device"])
      expect(await remove(name), name).toEqual({});
    expect(readFileSync(path("folder/inside"), "utf8")).toBe("inside");
    mkdirSync(path("tree/a/b/c"), { recursive: true });
    symlinkSync(path("folder"), path("tree/a/link"));
    for (let nth = 0; nth < 700; nth++) writeFileSync(path(`tree/a/b/${nth}`), "");
    expect(await remove("tree")).toEqual({});
    expect(existsSync(path("tree"))).toBe(false);
    expect(existsSync(path("folder/inside"))).toBe(true);
    chmodSync(path("locked"), 0o700);
  });

  it("[FS-7] stops long operations when their connection ends, and when the host ends", async () => {
    const folder = await freshFolder("long");
    mkdirSync(join(folder, "tree"));
    for (let nth = 0; nth < 20_000; nth++) writeFileSync(join(folder, "tree", `${nth}`), "");
    const host = await spawnHost({ args: ["--listen", "ws://127.0.0.1:0"] });
    const copied = async (name: string): Promise<number> => {
      const to = join(folder, name);
      return existsSync(to) ? readdirSync(to).length : 0;
    };
    const copying = async (client: WireClient, name: string): Promise<void> => {
      client.send({
        id: name,
        method: "fs/copy",
        params: { sourcePath: join(folder, "tree"), destinationPath: join(folder, name), recursive: true },
      });
      await eventually(async () => (await copied(name)) > 10, "the copy has begun");
    };
    const leaving = await host.join();
    await copying(leaving, "cut");
    await leaving.cut();
    expect(await settled(() => copied("cut"))).toBeLessThan(20_000);
    expect((await filesBelow(join(folder, "cut"))).filter((name) => name.endsWith("draft"))).toEqual([]);
    const staying = await host.join();
    await copying(staying, "ended");
    host.signal("SIGTERM");
    expect((await host.exited).code).toBe(0);
    expect(await copied("ended")).toBeLessThan(20_000);
    const reply = staying.frames.find(({ id }) => id === "ended");
    expect(reply?.error?.data).toEqual({ code: "shuttingDown", retryable: true });
  });
});

describe("a subject", () => {
  it("[FS-8] works on files inside of its roots only, even if a symlink changes meanwhile", async () => {
    const top = await freshFolder("top");
    const [work, outside] = [join(top, "work"), join(top, "outside")];
    mkdirSync(join(work, "inside"), { recursive: true });
    mkdirSync(outside);
    writeFileSync(join(work, "inside", "file"), "own");
    writeFileSync(join(outside, "file"), "secret");
    const home = await freshFolder();
    writeFileSync(join(home, "config.toml"), `[subjects.cara]\nroots = ["${work}"]\n`);
    writeFileSync(join(home, "key"), KEY);
    const auth = ["--ws-auth", "signed-bearer-token", "--ws-shared-secret-file", join(home, "key")];
    const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0", ...auth] });
    const cara = await host.connect(undefined, signedBearer("cara"));
    await cara.initialize();
    const at = (name: string): string => join(work, name);
    expect(await outcome(cara, "fs/createDirectory", { path: at("a/b") })).toEqual({});
    expect(await outcome(cara, "fs/writeFile", { path: at("a/b/c"), dataBase64: base64("c") })).toEqual({});
    expect(
      await outcome(cara, "fs/copy", { sourcePath: work, destinationPath: at("a/x"), recursive: true }),
    ).toBe("copyIntoItself");
    expect(
      await outcome(cara, "fs/copy", { sourcePath: at("a"), destinationPath: at("z"), recursive: true }),
    ).toEqual({});
    expect(text(await cara.call("fs/readFile", { path: at("z/b/c") }))).toBe("c");
    expect(await outcome(cara, "fs/remove", { path: at("a") })).toEqual({});
    expect(await outcome(cara, "fs/remove", { path: work })).toBe("pathNotAllowed");

    // Its own links may lead out: they can be removed, and are not followed.
    symlinkSync(outside, at("out"));
    expect((await cara.call("fs/readDirectory", { path: work })).entries).not.toContainEqual(
      expect.objectContaining({ fileName: "out" }),
    );
    expect(await outcome(cara, "fs/remove", { path: at("out") })).toEqual({});
    expect(existsSync(join(outside, "file"))).toBe(true);

    const swap = (target: string): void => {
      symlinkSync(target, at("next"));
      renameSync(at("next"), at("place"));
    };
    let swapping = true;
    const swaps = (async () => {
      for (let nth = 0; swapping; nth++) {
        swap(nth % 2 === 0 ? outside : join(work, "inside"));
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    const seen = new Set<string>();
    for (let round = 0; round < 300; round++) {
      const [read, listed, written] = await Promise.all([
        outcome(cara, "fs/readFile", { path: at("place/file") }),
        outcome(cara, "fs/readDirectory", { path: at("place") }),
        outcome(cara, "fs/writeFile", { path: at("place/new"), dataBase64: base64("x") }),
      ]);
      for (const one of [read, listed, written]) seen.add(typeof one === "string" ? one : "done");
      if (typeof read === "object") expect(text(read as { dataBase64: string })).toBe("own");
      await outcome(cara, "fs/remove", { path: at("place/new") });
    }
    swapping = false;
    await swaps;
    expect([...seen].sort()).toEqual(["done", "pathNotAllowed"]);
    expect(readdirSync(outside)).toEqual(["file"]);
    expect(readFileSync(join(outside, "file"), "utf8")).toBe("secret");
  });
});
