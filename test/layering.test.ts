// The arrows of the house: who may import whom, between packages and inside of the host.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..");

/** Packages of ours that a package may import. */
const PACKAGES: Record<string, readonly string[]> = {
  protocol: [],
  rpc: [],
  rap: [],
  client: ["rpc", "protocol"],
  host: ["protocol", "rpc", "rap", "client"],
  console: ["client", "protocol"],
};

/** What everything in the host but the core may use. */
const GROUND = ["core", "errors.ts", "version.ts", "platform", "observe"];

/** Folders and files of the host that one of its folders or files may import. */
const AREAS: Record<string, readonly string[]> = {
  errors: [],
  "errors.ts": ["errors"],
  "version.ts": [],
  core: ["errors.ts"],
  platform: [],
  observe: ["platform"],
  process: GROUND,
  credentials: [...GROUND, "store"],
  oauth: [...GROUND, "credentials"],
  sandbox: [...GROUND, "process"],
  store: GROUND,
  model: GROUND,
  tool: [...GROUND, "store", "credentials", "oauth", "model", "process", "sandbox"],
  config: [...GROUND, "credentials", "model", "process", "sandbox", "tool"],
  account: [...GROUND, "config", "credentials", "oauth", "model"],
  import: [...GROUND, "config", "skills", "store", "tool"],
  feedback: [...GROUND, "config"],
  history: [...GROUND, "store"],
  thread: [...GROUND, "store", "history", "workspace"],
  workspace: [...GROUND, "process", "sandbox", "search"],
  watch: GROUND,
  skills: [...GROUND, "config"],
  prompts: [...GROUND, "skills", "tool"],
  hooks: [...GROUND, "config", "process", "tool"],
  turn: [...GROUND, "store", "history", "model", "tool", "thread", "workspace", "hooks"],
  search: GROUND,
  server: [
    ...GROUND,
    "config",
    "history",
    "skills",
    "prompts",
    "account",
    "import",
    "oauth",
    "feedback",
    "hooks",
    "store",
    "model",
    "tool",
    "thread",
    "process",
    "sandbox",
    "workspace",
    "watch",
    "search",
  ],
};
/** Here parts are put together, so they see all of them; nothing imports these but one that is further out. */
const OUTSIDE = [
  "host.ts",
  "compose-account.ts",
  "compose-rap.ts",
  "compose-config.ts",
  "compose-command-tools.ts",
  "compose-feedback.ts",
  "compose-hooks.ts",
  "compose-import.ts",
  "compose-mcp.ts",
  "compose-mcp-calls.ts",
  "compose-children.ts",
  "compose-observers.ts",
  "compose-client-work.ts",
  "compose-tools.ts",
  "compose-threads.ts",
  "compose.ts",
  "index.ts",
  "cli",
];

/** Entry points of worker threads. Like commands, they choose the adapters that they use. */
const WORKERS = ["host/src/search/file-search-worker.ts", "host/src/store/files/index/search-worker.ts"];

/** Sources of the host that no other source imports: programs, entry points, and the store of hosts in one process. */
const UNIMPORTED = [
  "cli/apply-patch.ts",
  "cli/bobbin.ts",
  "config/keys/reference-page.ts",
  "index.ts",
  "platform/keyring-program.ts",
  "search/file-search-worker.ts",
  "store/files/index/search-worker.ts",
  "store/memory/in-memory-store.ts",
];

/** What touches the world. It is chosen in compose.ts and in commands, and everything else knows its port only. */
const ADAPTERS = [
  /^platform\/node/,
  /^store\/(files|memory)\//,
  /^model\/(offline|openai-responses-api|chat-completions-api|anthropic-messages-api)\.ts$/,
  /^server\/listen\/(stdio|websocket|unix)\.ts$/,
];

/** Names of files of the store in files, and of the home's folders that hold them. */
const STORE_FILES =
  /archived_sessions|start_keys|threads\.sqlite|boot\.mark|takeover\.lock|rules\.lock|\.starts"|\.blobs"|rollout-/;
const STORE_DOCUMENTS = /(thread_sections|import_histories|rap_callbacks)\.json/;
const STORE_FOLDERS =
  /join\([^;]*\bhome\b[^;]*"(sessions|live|incoming|secrets|rules|credentials|rap_toolsets)"/i;

/** Files that know such a folder, because what they have there belongs to this machine and not to its threads. */
const OF_THE_MACHINE: Record<string, string> = {
  "credentials/keyring-keys.ts": "the keyring's item",
  "tool/rap/callback-sockets.ts": "locks of ports",
};

interface Import {
  /** Inside of packages/. */
  readonly file: string;
  /** As it is written. */
  readonly what: string;
  /** Inside of packages/, for one of our own files. */
  readonly path: string | undefined;
  readonly typeOnly: boolean;
}

const STATEMENT = /^(import|export)( type)?\s[\w\s$*{},]*?from "([^"$]+)"/gm;
const BARE = /^import "([^"$]+)"/gm;
const DYNAMIC = /\bimport\("([^"$]+)"\)/g;

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, "packages", file), "utf8");
  const found = [
    ...Array.from(text.matchAll(STATEMENT), (match) => ({
      what: match[3]!,
      typeOnly: match[2] !== undefined,
    })),
    ...Array.from(text.matchAll(BARE), (match) => ({ what: match[1]!, typeOnly: false })),
    ...Array.from(text.matchAll(DYNAMIC), (match) => ({ what: match[1]!, typeOnly: false })),
  ];
  return found.map(({ what, typeOnly }) => ({
    file,
    what,
    typeOnly,
    path: what.startsWith(".") ? posix.normalize(posix.join(dirname(file), what)) : undefined,
  }));
}

const imports = readdirSync(join(root, "packages"), { recursive: true, encoding: "utf8" })
  .filter((file) => /^[\w-]+\/src\/.*\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file))
  .flatMap(importsOf);

/** The host's sources, by their path inside of its src. */
const sources = readdirSync(join(root, "packages/host/src"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
  .map((file) => [file, readFileSync(join(root, "packages/host/src", file), "utf8")] as const);
const outsideOfFiles = sources.filter(
  // Imports read the files of other programs.
  ([file]) => !file.startsWith("store/files/") && !/^import\/(claude|codex|session)\//.test(file),
);

const packageOf = (file: string): string => file.split("/")[0]!;
/** The folder or file right under the host's src, or undefined outside of it. */
const areaOf = (file: string): string | undefined =>
  file.startsWith("host/src/") ? file.split("/")[2] : undefined;
/** Files of one adapter may import each other: those in its folder and in the folders below. */
const isBeside = (file: string, path: string): boolean => {
  const adapter = /^host\/src\/store\/\w+\//.exec(path)?.[0] ?? `${dirname(path)}/`;
  return file.startsWith(adapter);
};
/** A path of imports that leads back to its beginning; undefined if there is none. */
function cycleIn(arrows: ReadonlyMap<string, readonly string[]>): string | undefined {
  const done = new Set<string>();
  const walk = (file: string, path: readonly string[]): string | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file].join(" > ");
    if (done.has(file)) return undefined;
    for (const next of arrows.get(file) ?? []) {
      const cycle = walk(next, [...path, file]);
      if (cycle !== undefined) return cycle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of arrows.keys()) {
    const cycle = walk(file, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}
const told = ({ file, what }: Import): string => `packages/${file} imports ${what}`;

describe("layers", () => {
  it("finds imports at all", () => {
    expect(imports.length).toBeGreaterThan(200);
  });

  it("has no cycle of imports", () => {
    const arrows = new Map<string, string[]>();
    for (const { file, path, typeOnly } of imports) {
      if (path === undefined || typeOnly) continue;
      arrows.set(file, [...(arrows.get(file) ?? []), path]);
    }
    expect(cycleIn(arrows)).toBeUndefined();
    expect(
      cycleIn(
        new Map([
          ["a", ["b", "c"]],
          ["b", []],
          ["c", ["d"]],
          ["d", ["b", "c"]],
        ]),
      ),
    ).toBe("c > d > c");
  });

  it("lets packages import only the packages below them, and by their names", () => {
    const wrong = imports.filter(({ file, what, path }) => {
      if (path !== undefined) return packageOf(path) !== packageOf(file);
      const ours = /^@bobbin\/([\w-]+)/.exec(what)?.[1];
      return ours !== undefined && !(PACKAGES[packageOf(file)] ?? []).includes(ours);
    });
    expect(wrong.map(told)).toEqual([]);
    const unknown = new Set(imports.map(({ file }) => packageOf(file)).filter((name) => !(name in PACKAGES)));
    expect([...unknown], "packages without a place in the drawing").toEqual([]);
  });

  it("lets the host use the client in commands only", () => {
    const wrong = imports.filter(
      ({ file, what }) =>
        what.startsWith("@bobbin/client") && areaOf(file) !== "cli" && packageOf(file) === "host",
    );
    expect(wrong.map(told)).toEqual([]);
  });

  it("lets folders of the host import only the folders below them", () => {
    const wrong = imports.filter(({ file, path }) => {
      const [from, to] = [areaOf(file), path === undefined ? undefined : areaOf(path)];
      if (from === undefined || to === undefined || from === to) return false;
      if (OUTSIDE.includes(from)) return OUTSIDE.indexOf(to) > OUTSIDE.indexOf(from);
      return !(AREAS[from] ?? []).includes(to);
    });
    expect(wrong.map(told)).toEqual([]);
    const areas = new Set(imports.map(({ file }) => areaOf(file)));
    const unknown = [...areas].filter((area) => area && !OUTSIDE.includes(area) && !(area in AREAS));
    expect(unknown, "folders without a place in the drawing").toEqual([]);
  });

  it("has every folder and its arrows on the page for readers of the code", () => {
    const rows = readFileSync(join(root, "docs/code-map.md"), "utf8").matchAll(
      /^\| `([\w-]+)\/[^|]*\|[^|]*\|([^|]*)\|$/gm,
    );
    const map = new Map(Array.from(rows, ([, area, arrows]) => [area!, arrows!]));
    const folders = Object.keys(AREAS).filter((area) => !area.endsWith(".ts"));
    expect(folders.filter((area) => !map.has(area))).toEqual([]);
    const drawn = (area: string) =>
      Array.from(map.get(area)!.matchAll(/`([\w-]+)`/g), ([, name]) => name!).toSorted();
    for (const area of folders.filter((name) => !["core", "server", "platform", "observe"].includes(name))) {
      const further = AREAS[area]!.filter((name) => !GROUND.includes(name));
      expect([area, ...drawn(area)]).toEqual([area, ...further.toSorted()]);
    }
  });

  it("keeps the core pure: it imports only the errors and the protocol", () => {
    const wrong = imports.filter(({ file, what, path }) => {
      if (areaOf(file) !== "core" || path !== undefined) return false;
      return !/^@bobbin\/protocol(\/|$)/.test(what);
    });
    expect(wrong.map(told)).toEqual([]);
  });

  it("lets only the store in files know how its files are named", () => {
    const names = [STORE_FILES, STORE_DOCUMENTS, STORE_FOLDERS];
    const wrong = outsideOfFiles.filter(([, text]) => names.some((pattern) => pattern.test(text)));
    expect(wrong.map(([file]) => file).toSorted()).toEqual(Object.keys(OF_THE_MACHINE).toSorted());
  });

  it("finds the names of the store's files where they are", () => {
    const store = sources.filter(([file]) => file.startsWith("store/files/"));
    const hits = (pattern: RegExp): number => store.filter(([, text]) => pattern.test(text)).length;
    expect([hits(STORE_FILES), hits(STORE_FOLDERS)].every((count) => count > 2)).toBe(true);
  });

  it("lets threads and their history know of no files, locks and processes", () => {
    const wrong = sources.filter(
      ([file, text]) =>
        /^(core|thread|history)\//.test(file) &&
        /\b(liveness|openAppend|openRead|readText|replaceText)\b|"node:(path|fs|os|process)/i.test(text),
    );
    expect(wrong.map(([file]) => file)).toEqual([]);
  });

  it("lets handlers read and change threads without the store: they know its types alone", () => {
    const handlers = imports.filter(({ file }) =>
      /^host\/src\/server\/(handlers|params|replies)\//.test(file),
    );
    expect(handlers.length).toBeGreaterThan(100);
    const wrong = handlers.filter(({ path, typeOnly }) => path?.startsWith("host/src/store/") && !typeOnly);
    expect(wrong.map(told)).toEqual([]);
    const reads = sources.filter(
      ([file, text]) =>
        file.startsWith("server/") &&
        /\bjournal\.(append|archive|backwards|destroy|forwards)\(|\bindex\.\w+\(/.test(text),
    );
    expect(reads.map(([file]) => file)).toEqual([]);
  });

  it("has only files with handlers among the handlers", () => {
    const handlers = sources.filter(([file]) => file.startsWith("server/handlers/"));
    expect(handlers.length).toBeGreaterThan(20);
    const others = handlers.filter(([, text]) => !/\): MethodHandlers \{/.test(text));
    expect(others.map(([file]) => file)).toEqual([]);
  });

  it("has no helpers of tests among the sources", () => {
    const imported = new Set(imports.map(({ path }) => path));
    const unimported = sources.map(([file]) => file).filter((file) => !imported.has(`host/src/${file}`));
    expect(unimported.toSorted()).toEqual(UNIMPORTED);
  });

  it("keeps adapters behind their ports", () => {
    const wrong = imports.filter(({ file, path }) => {
      const inside = path?.startsWith("host/src/") ? path.slice("host/src/".length) : undefined;
      if (inside === undefined || !ADAPTERS.some((adapter) => adapter.test(inside))) return false;
      if (WORKERS.includes(file)) return false;
      const from = areaOf(file)!;
      return from !== "compose.ts" && from !== "cli" && !isBeside(file, path!);
    });
    expect(wrong.map(told)).toEqual([]);
  });
});
