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
  "errors.ts": [],
  "version.ts": [],
  core: ["errors.ts"],
  platform: [],
  observe: ["platform"],
  process: GROUND,
  sandbox: [...GROUND, "process"],
  journal: GROUND,
  model: GROUND,
  tool: [...GROUND, "model", "process", "sandbox"],
  config: [...GROUND, "model", "process", "sandbox", "tool"],
  account: [...GROUND, "config", "model"],
  catalog: [...GROUND, "config"],
  migrate: [...GROUND, "config", "journal"],
  feedback: [...GROUND, "config"],
  thread: [...GROUND, "journal"],
  workspace: [...GROUND, "process", "sandbox"],
  turn: [...GROUND, "journal", "model", "tool", "thread", "workspace"],
  server: [
    ...GROUND,
    "config",
    "catalog",
    "account",
    "migrate",
    "feedback",
    "journal",
    "model",
    "tool",
    "thread",
    "process",
    "sandbox",
    "workspace",
  ],
};
/** Here parts are put together, so they see all of them; nothing imports these but one that is further out. */
const OUTSIDE = ["host.ts", "compose-rap.ts", "compose-exec.ts", "compose.ts", "index.ts", "cli"];

/** What touches the world. It is chosen in compose.ts and in commands, and everything else knows its port only. */
const ADAPTERS = [
  /^platform\/node/,
  /^journal\/(memory|file)/,
  /^model\/(offline|responses|chat|messages)\.ts$/,
  /^server\/listen\/(stdio|websocket|unix)\.ts$/,
];

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

const packageOf = (file: string): string => file.split("/")[0]!;
/** The folder or file right under the host's src, or undefined outside of it. */
const areaOf = (file: string): string | undefined =>
  file.startsWith("host/src/") ? file.split("/")[2] : undefined;
const told = ({ file, what }: Import): string => `packages/${file} imports ${what}`;

describe("layers", () => {
  it("finds imports at all", () => {
    expect(imports.length).toBeGreaterThan(200);
  });

  it("lets packages import only those that they stand on, and by their names", () => {
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

  it("lets folders of the host import only those that they stand on", () => {
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

  it("keeps the core pure: of all that is outside of it, it knows the errors and the protocol", () => {
    const wrong = imports.filter(({ file, what, path }) => {
      if (areaOf(file) !== "core" || path !== undefined) return false;
      return !/^@bobbin\/protocol(\/|$)/.test(what);
    });
    expect(wrong.map(told)).toEqual([]);
  });

  it("keeps adapters behind their ports", () => {
    const wrong = imports.filter(({ file, path }) => {
      const inside = path?.startsWith("host/src/") ? path.slice("host/src/".length) : undefined;
      if (inside === undefined || !ADAPTERS.some((adapter) => adapter.test(inside))) return false;
      const from = areaOf(file)!;
      return from !== "compose.ts" && from !== "cli" && dirname(file) !== dirname(path!);
    });
    expect(wrong.map(told)).toEqual([]);
  });
});
