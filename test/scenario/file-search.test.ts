import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { type HostProcess, spawnHost, stdioHost } from "../support/host-process.ts";
import { makeOddFiles } from "../support/odd-files.ts";
import { KEY, signedBearer } from "../support/signed-token.ts";
import type { WireClient } from "../support/wire-client.ts";

const EXPERIMENTAL = { experimentalApi: true };
const SOCKET = ["--listen", "ws://127.0.0.1:0"];

function makeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

/** The paths that a query finds, best first. */
async function found(client: WireClient, query: string, ...roots: string[]): Promise<string[]> {
  const { files } = await client.call("fuzzyFileSearch", { query, roots });
  return files.map(({ path }: { path: string }) => path);
}

const updates = (client: WireClient, sessionId: string) =>
  client.told("fuzzyFileSearch/sessionUpdated").filter(({ params }) => params.sessionId === sessionId);

/** How often a session ended a search since its last update. */
const ends = (client: WireClient, sessionId: string): number => {
  const notified = client.frames.filter(
    ({ method, params }) =>
      method?.startsWith("fuzzyFileSearch/session") === true && params.sessionId === sessionId,
  );
  const last = notified.findLastIndex(({ method }) => method === "fuzzyFileSearch/sessionUpdated");
  return notified.length - 1 - last;
};

/** Threads of a host; Linux. */
const threadsOf = ({ pid }: HostProcess): number => readdirSync(`/proc/${pid}/task`).length;

describe("a search for files", () => {
  it("[SEARCH-3] omits ignored files, and finds hidden ones", async () => {
    const top = await freshFolder("search");
    const repository = join(top, "repository");
    makeFiles(top, {
      ".gitignore": "*.found\n",
      "settings/git/ignore": "*.global\n",
      "repository/.gitignore": "*.log\n!keep.log\n/top.x\nbuild/\ndeep/*.tmp\n",
      "repository/.ignore": "!again.log\nnever.x\n",
      "repository/sub/.gitignore": "!special.log\nlocal.x\n",
      "repository/sub/.ignore": "own.x\n",
    });
    execFileSync("git", ["init", "-q"], { cwd: repository });
    makeFiles(repository, {
      ".git/info/exclude": "excluded.x\n",
      "sub/inner/.git/HEAD": "",
      ...Object.fromEntries(
        [
          "a.log keep.log again.log top.x sub/top.x build/out.x sub/build deep/a.tmp sub/deep/a.tmp never.x sub/never.x",
          "sub/special.log special.log sub/local.x local.x sub/own.x own.x excluded.x sub/excluded.x any.global",
          ".hidden.x .config/hidden.x sub/inner/b.log sub/inner/top.x outer.found",
        ]
          .join(" ")
          .split(" ")
          .map((name) => [name, ""]),
      ),
    });
    const { client } = await stdioHost({ env: { XDG_CONFIG_HOME: join(top, "settings"), HOME: top } });
    const all = async (...queries: string[]) =>
      (await Promise.all(queries.map((query) => found(client, query, repository)))).flat().sort();
    expect(await all("log$")).toEqual(["again.log", "keep.log", "sub/inner/b.log", "sub/special.log"]);
    expect(await all(".x$")).toEqual(
      ".config/hidden.x .hidden.x local.x own.x sub/inner/top.x sub/top.x".split(" "),
    );
    expect(await all("build", ".tmp$", "global$")).toEqual(["sub/build", "sub/deep/a.tmp"]);
    // Rules above the repository are none of its own.
    expect(await all("found$")).toEqual(["outer.found"]);
    // Outside of a repository `.gitignore` means nothing.
    const plain = await freshFolder("plain");
    makeFiles(plain, { ".gitignore": "*.log\n", ".ignore": "*.tmp\n", "a.log": "", "a.tmp": "" });
    expect(await found(client, "a.", plain)).toEqual(["a.log"]);
    // A folder that is named is searched, whatever its parents say, and by their rules.
    expect(await found(client, "out", join(repository, "build"))).toEqual(["out.x"]);
    expect((await found(client, "log$", join(repository, "sub"))).sort()).toEqual([
      "inner/b.log",
      "special.log",
    ]);
  });

  it("[SEARCH-4] follows symlinks, but not in circles, and skips what cannot be read", async () => {
    const folder = await freshFolder("odd");
    makeOddFiles(folder);
    symlinkSync("..", join(folder, "folder", "up"));
    symlinkSync(".", join(folder, "self"));
    const other = await freshFolder("other");
    makeFiles(other, { "far/away.txt": "" });
    symlinkSync(other, join(folder, "elsewhere"));
    const { client } = await stdioHost();
    expect(await found(client, "away", folder)).toContain("elsewhere/far/away.txt");
    const inside = await found(client, "inside", folder);
    expect(inside).toEqual(expect.arrayContaining(["folder/inside", "link-to-folder/inside"]));
    const { files } = await client.call("fuzzyFileSearch", { query: "pipe", roots: [folder] });
    expect(
      files.map((file: { path: string; match_type: string }) => [file.path, file.match_type]),
    ).toContainEqual(["pipe", "file"]);
    expect(await found(client, "nowhere", folder)).toEqual([]);
    expect(await found(client, "circle", folder)).toEqual([]);
    expect(await found(client, "up/self/up", folder)).toEqual([]);
    // What is no folder has nothing in it; a folder in another one is not searched twice.
    for (const root of [join(folder, "none"), join(folder, "file"), join(folder, "pipe"), ""])
      expect(await found(client, "file", root)).toEqual([]);
    expect(await found(client, "", folder)).toEqual([]);
    const twice = await client.call("fuzzyFileSearch", {
      query: "away",
      roots: [other, join(other, "far"), other],
    });
    expect(twice.files).toMatchObject([{ root: join(other, "far"), path: "away.txt" }]);
    expect((await client.refusal("fuzzyFileSearch", { query: "a", roots: ["/a\0"] })).data.code).toBe(
      "pathWithNul",
    );
    for (const params of [
      { query: "a".repeat(1001), roots: ["/"] },
      { query: "a", roots: Array.from({ length: 101 }, () => "/tmp") },
    ])
      expect((await client.refusal("fuzzyFileSearch", params)).data.code).toBe("invalidParams");
  });
});

describe("in a folder of 50,000 files", () => {
  const PACKAGES = 500;
  const MODULES = 100;
  let large: string;
  beforeAll(async () => {
    large = await freshFolder("large");
    // All packages share their modules by a link: a search finds 50,000 paths, and few files have to be made.
    const modules = await freshFolder("modules");
    for (let nth = 0; nth < MODULES; nth++) writeFileSync(join(modules, `module-${nth}.ts`), "");
    for (let nth = 0; nth < PACKAGES; nth++) {
      mkdirSync(join(large, `package-${nth}`));
      symlinkSync(modules, join(large, `package-${nth}`, "src"));
    }
  });

  it("[SEARCH-5] shows the first results while the search goes on, best first, and serves others", async () => {
    const host = await spawnHost({ args: SOCKET });
    const client = await host.join(undefined, EXPERIMENTAL);
    const other = await host.join();
    await other.call("fs/getMetadata", { path: large });
    const before = threadsOf(host);
    await client.call("fuzzyFileSearch/sessionStart", { sessionId: "s", roots: [large] });
    await client.call("fuzzyFileSearch/sessionUpdate", { sessionId: "s", query: "module" });
    await client.until(() => updates(client, "s").at(-1)?.params.query === "module", "the first results");
    // The search has a thread of its own, so others do not wait for it.
    expect(threadsOf(host)).toBeGreaterThan(before);
    await other.call("thread/loaded/list");
    await client.until(() => ends(client, "s") > 0, "the end of the search");
    const all = updates(client, "s").filter(({ params }) => params.query === "module");
    expect(all.length).toBeGreaterThan(1);
    for (const { params } of all) {
      const scores = params.files.map(({ score }: { score: number }) => score);
      expect(scores).toEqual([...scores].sort((one: number, two: number) => two - one));
      expect(scores.length).toBeLessThanOrEqual(50);
    }
    // All modules match alike, so the shortest paths are the best ones, in order.
    const best = [0, 1, 2, 3, 4].flatMap((nth) =>
      Array.from({ length: 10 }, (_, module) => `package-${nth}/src/module-${module}.ts`),
    );
    expect(all.at(-1)!.params.files.map(({ path }: { path: string }) => path)).toEqual(best);
    expect(await found(client, "module", large)).toEqual(best);
    expect(await found(client, "package499module99", large)).toEqual(["package-499/src/module-99.ts"]);
  });

  it("[SEARCH-6] is searched for each token and each client", async () => {
    const host = await spawnHost({ args: [...SOCKET, "--stdio"] });
    const [client, other] = [host.stdio(), await host.join()];
    await client.initialize();
    const asked = (id: string, query: string, cancellationToken: string): object => ({
      id,
      method: "fuzzyFileSearch",
      params: { query, roots: [large], cancellationToken },
    });
    other.send(asked("theirs", "module", "token"));
    client.sendLines(
      [
        asked("first", "module", "token"),
        asked("second", "package", "token"),
        asked("third", "src", "another"),
      ].map((message) => JSON.stringify(message)),
    );
    const files = async (of: WireClient, id: string): Promise<number> => {
      const { result } = await of.waitFor((frame) => frame.id === id, id);
      return result.files.length;
    };
    // The first replies with what it has found by then.
    expect(await files(client, "first")).toBeLessThanOrEqual(50);
    expect(await files(client, "second")).toBe(50);
    // Neither another token nor another client's ends it.
    expect(await files(client, "third")).toBe(50);
    expect(await files(other, "theirs")).toBe(50);
  });

  it("[SEARCH-7] is searched for the last query of a session, and no more when it ends", async () => {
    const host = await spawnHost({ args: SOCKET });
    const [client, other] = [
      await host.join(undefined, EXPERIMENTAL),
      await host.join(undefined, EXPERIMENTAL),
    ];
    const ask = (query: string) => client.request("fuzzyFileSearch/sessionUpdate", { sessionId: "s", query });
    const shown = (query: string): boolean => {
      const last = updates(client, "s").at(-1);
      return last?.params.query === query && ends(client, "s") > 0;
    };
    // A query may come right behind the start.
    const started = client.request("fuzzyFileSearch/sessionStart", { sessionId: "s", roots: [large] });
    for (const query of ["m", "mo", "mod", "package3"])
      client.send({ id: query, method: "fuzzyFileSearch/sessionUpdate", params: { sessionId: "s", query } });
    expect((await started).error).toBeUndefined();
    await client.until(() => shown("package3"), "the end of the search");
    expect(client.frames.filter(({ error }) => error !== undefined)).toEqual([]);
    // Nobody else has it, or hears of it.
    expect(
      (await other.refusal("fuzzyFileSearch/sessionUpdate", { sessionId: "s", query: "x" })).message,
    ).toBe("fuzzy file search session not found: s");
    expect(await other.call("fuzzyFileSearch/sessionStop", { sessionId: "s" })).toEqual({});
    expect(other.count("fuzzyFileSearch/sessionUpdated")).toBe(0);
    // Files that come later are found by the next session of the same id.
    writeFileSync(join(large, "brand-new.ts"), "");
    await ask("brandnew");
    await client.until(() => shown("brandnew"), "the end of the search");
    expect(updates(client, "s").at(-1)!.params.files).toEqual([]);
    await client.call("fuzzyFileSearch/sessionStart", { sessionId: "s", roots: [large] });
    await ask("brandnew");
    await client.until(() => updates(client, "s").at(-1)!.params.files.length === 1, "the new file");
    await ask("module1");
    await client.call("fuzzyFileSearch/sessionStop", { sessionId: "s" });
    const before = client.count("fuzzyFileSearch/sessionUpdated");
    expect((await ask("module2")).error?.data.code).toBe("searchSessionNotFound");
    expect(await found(client, "package499", large)).toHaveLength(50);
    expect(client.count("fuzzyFileSearch/sessionUpdated")).toBe(before);
  });

  it("[SEARCH-7] [SEARCH-8] goes on for other clients when clients leave, and does not delay a shutdown", async () => {
    const host = await spawnHost({ args: SOCKET });
    const staying = await host.join(undefined, EXPERIMENTAL);
    const clients = await Promise.all(Array.from({ length: 10 }, () => host.join(undefined, EXPERIMENTAL)));
    await Promise.all(
      clients.map(async (client, nth) => {
        await client.call("fuzzyFileSearch/sessionStart", { sessionId: "s", roots: [large] });
        client.send({
          id: "u",
          method: "fuzzyFileSearch/sessionUpdate",
          params: { sessionId: "s", query: `m${nth}` },
        });
        client.send({ id: "o", method: "fuzzyFileSearch", params: { query: `p${nth}`, roots: [large] } });
      }),
    );
    await Promise.all(clients.map((client, nth) => (nth % 2 === 0 ? client.cut() : client.close())));
    expect(await found(staying, "package7", large)).toHaveLength(50);
    staying.send({ id: "last", method: "fuzzyFileSearch", params: { query: "module", roots: [large] } });
    host.signal("SIGTERM");
    expect((await host.exited).code).toBe(0);
  });
});

describe("sessions", () => {
  it("[SEARCH-10] are at most 16 for a connection", async () => {
    const { client } = await stdioHost({ capabilities: EXPERIMENTAL });
    const folder = await freshFolder("search");
    makeFiles(folder, { "a.txt": "" });
    const start = (sessionId: string) =>
      client.request("fuzzyFileSearch/sessionStart", { sessionId, roots: [folder] });
    for (let nth = 0; nth < 16; nth++) expect((await start(`${nth}`)).error).toBeUndefined();
    expect((await start("16")).error?.data).toEqual({ code: "tooManySearches", retryable: true });
    expect((await start("3")).error).toBeUndefined();
    await client.call("fuzzyFileSearch/sessionStop", { sessionId: "7" });
    expect((await start("16")).error).toBeUndefined();
    const { message } = await client.refusal("fuzzyFileSearch/sessionStart", {
      sessionId: "",
      roots: [folder],
    });
    expect(message).toBe("sessionId must not be empty");
    expect(
      (await client.refusal("fuzzyFileSearch/sessionStart", { sessionId: "x", roots: [] })).message,
    ).toBe("failed to start fuzzy file search session: at least one search directory is required");
  });
});

describe("a subject", () => {
  it("[SEARCH-9] finds files inside of its roots only, even if symlinks change meanwhile", async () => {
    const top = await freshFolder("top");
    const [work, outside] = [join(top, "work"), join(top, "outside")];
    makeFiles(top, {
      "work/inside/own-file": "",
      "outside/secret-file": "",
      "outside/.ignore": "own-file\n",
      ".ignore": "own-file\n",
    });
    symlinkSync(outside, join(work, "out"));
    symlinkSync(join(outside, ".ignore"), join(work, ".ignore"));
    const home = await freshFolder();
    writeFileSync(join(home, "config.toml"), `[subjects.cara]\nroots = ["${work}"]\n`);
    writeFileSync(join(home, "key"), KEY);
    const auth = ["--ws-auth", "signed-bearer-token", "--ws-shared-secret-file", join(home, "key")];
    const host = await spawnHost({ home, args: [...SOCKET, ...auth] });
    const cara = await host.connect(undefined, signedBearer("cara"));
    await cara.initialize();
    // Neither what a link leads to nor rules from outside count.
    expect(await found(cara, "file", work)).toEqual(["inside/own-file"]);
    let swapping = true;
    const swaps = (async () => {
      for (let nth = 0; swapping; nth++) {
        symlinkSync(nth % 2 === 0 ? outside : join(work, "inside"), join(work, "next"));
        renameSync(join(work, "next"), join(work, "place"));
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    const seen = new Set<string>();
    for (let round = 0; round < 50; round++)
      for (const path of await found(cara, "file", work)) seen.add(path);
    swapping = false;
    await swaps;
    expect([...seen].filter((path) => path.includes("secret"))).toEqual([]);
    expect(seen).toContain("inside/own-file");
  });
});
