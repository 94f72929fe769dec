// The code of pages and doc comments, checked by the compiler against the types of the packages as they are published.
import { execFile } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { snippets } from "../docs/snippet-list.ts";
import { ROOT } from "../support/markdown.ts";
import { type PublicName, publicEntries } from "../support/public-api.ts";
import { projectWith } from "../support/tarballs.ts";

let project: string;

/** React's own types declare empty types for the DOM, so that these stand for them. */
const JSX =
  "declare namespace JSX { type Element = unknown; interface IntrinsicElements { [name: string]: unknown } }\n";

beforeAll(async () => {
  project = await projectWith(["@bobbin/client", "@bobbin/protocol", "@bobbin/rap"]);
  await mkdir(join(project, "node_modules/@types"), { recursive: true });
  for (const name of ["ws", "zod", "react", "undici-types", "@types/ws", "@types/node"])
    await symlink(join(ROOT, "node_modules", name), join(project, "node_modules", name));
  await writeFile(join(project, "jsx.d.ts"), JSX);
});

const CLIENT = 'import("@bobbin/client")';
const RAP = 'import("@bobbin/rap")';
const RUNTIME = 'import("@bobbin/rap/runtime")';
const WIRE = 'import("@bobbin/rap/wire")';
const COMPONENT = "(props: Record<string, unknown>) => unknown";

/** What examples use without saying where it comes from, by entry, with its type: things of the reader's program. */
const NAMES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "@bobbin/client": {
    ask: "(question: string, signal: AbortSignal) => Promise<boolean>",
    bobbin: `${CLIENT}.Bobbin`,
    client: `${CLIENT}.BobbinClient`,
    id: "string",
    lastTurnId: "string",
    link: `${CLIENT}.AttachableLink`,
    openMyTransport: `(events: ${CLIENT}.TransportEvents) => ${CLIENT}.Transport`,
    render: "(what: unknown) => void",
    setBanner: "(text: string | null) => void",
    show: "(...what: string[]) => void",
    signal: "AbortSignal",
    state: `${CLIENT}.ThreadState`,
    thread: `${CLIENT}.FollowedThread`,
    threadId: "string",
    token: "string",
    turn: `${CLIENT}.RunningTurn & ${CLIENT}.TurnState`,
  },
  "@bobbin/client/node": {},
  "@bobbin/client/react": {
    Banner: COMPONENT,
    bobbin: `${CLIENT}.Bobbin`,
    Chat: COMPONENT,
    Item: COMPONENT,
    thread: `${CLIENT}.FollowedThread`,
    threadId: "string",
  },
  "@bobbin/rap": {
    ctx: `${RAP}.ToolContext`,
    path: "string",
    patch: "string",
    png: '{ toString(as: "base64"): string }',
    push: "{ repository: string; commits: number }",
    request: "Request",
    roll: `${RAP}.Tool`,
    server: `${RAP}.ToolServer`,
    startShell: "() => { kill(): void }",
    subscription: `${RAP}.Subscription`,
    text: "string",
  },
  "@bobbin/rap/node": { token: "string", tools: `readonly ${RAP}.Tool[]` },
  "@bobbin/rap/runtime": {
    answer: `${RUNTIME}.Answer`,
    cached: "string",
    call: `${WIRE}.Invocation`,
    callId: "string",
    choice: `${WIRE}.UserChoice`,
    id: "string",
    load: "number",
    log: "((text: string) => void) & { warn(text: string): void }",
    move: `${RUNTIME}.SessionMove`,
    ports: `${RUNTIME}.RuntimePorts`,
    publicUrl: "string",
    request: "Request",
    selected: "number",
    server: `${RUNTIME}.ServerAddress`,
    sign: `${RUNTIME}.Sign`,
    tellModel: "(outcome: unknown) => void",
    thread_id: "string",
    threadId: "string",
    toolset: `${WIRE}.Toolset`,
    url: "string",
    warn: "(text: string) => void",
  },
  "@bobbin/rap/wire": {
    abort: "(...what: unknown[]) => void",
    answer: "(...what: unknown[]) => void",
    body: "string",
    bytes: "Uint8Array",
    deliver: "(...what: unknown[]) => void",
    endpoint: "string",
    headers: "Record<string, string>",
    invocation: `${WIRE}.Invocation`,
    release: "(id: string) => void",
    request: "Request",
    response: "Response",
    run: "(...what: unknown[]) => void",
    settle: "(id: string, text: string | undefined) => void",
    transfer: "(...what: unknown[]) => void",
    value: "unknown",
  },
};
/** What examples import from elsewhere, and need not say. */
const ELSEWHERE = {
  join: "node:path",
  readFile: "node:fs/promises",
  writeFile: "node:fs/promises",
  z: "zod",
};

const uses = (text: string, name: string) => new RegExp(`(?<![.\\w"\`/-])${name}\\b(?!["/:-])`).test(text);

/** Of the client's README. */
const GOES_ON =
  'import { connect } from "@bobbin/client";\nconst thread = await (await connect("ws://127.0.0.1:4545")).startThread();\n';

interface Code {
  readonly name: string;
  readonly text: string;
  /** Of the file: ts, tsx, js or jsx. */
  readonly ending: string;
}

/** The faults that the compiler finds in some code, one file each. JavaScript is checked without annotations. */
async function faults(folder: string, codes: readonly Code[], isTyped: boolean): Promise<string> {
  const place = join(project, folder);
  await mkdir(place);
  for (const { name, text, ending } of codes)
    await writeFile(join(place, `${name}.${ending}`), `${text}\nexport {};\n`);
  const compilerOptions = {
    strict: isTyped,
    allowJs: true,
    checkJs: true,
    noEmit: true,
    skipLibCheck: true,
    module: "nodenext",
    target: "es2023",
    jsx: "preserve",
    types: ["node"],
    lib: ["es2023", "dom", "dom.iterable", "dom.asynciterable"],
  };
  const config = join(place, "tsconfig.json");
  await writeFile(config, JSON.stringify({ compilerOptions, include: [".", "../jsx.d.ts"] }));
  const run = promisify(execFile)(
    process.execPath,
    [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", config, "--pretty", "false"],
    { cwd: place },
  );
  return (await run.catch((cause: { readonly stdout: string }) => cause)).stdout;
}

describe("the code of pages", () => {
  it("[DOCS-13] has the types of the published packages", async () => {
    const pages = (await snippets()).filter(
      // Code of this repository, which how-to.test.ts and tool-servers.test.ts compile in its place.
      ({ page, text }) => !page.includes("how-to-") && !/^async run\(|^const { label }/.test(text),
    );
    const code = ({ language, text, page, line }: (typeof pages)[number]): Code[] => {
      const name = `${page.replaceAll(/\W/g, "-")}-${line}`;
      // A browser runs the page of the quick start.
      if (!/^(ts|tsx|js|jsx)$/.test(language)) return [];
      // It goes on where the block before it ended.
      const before = text.includes("import ") ? "" : GOES_ON;
      return [{ name, text: before + text, ending: language }];
    };
    const all = pages.flatMap(code);
    const typed = all.filter(({ ending }) => ending.startsWith("t"));
    const untyped = all.filter(({ ending }) => !ending.startsWith("t"));
    expect([typed.length > 2, untyped.length > 5]).toEqual([true, true]);
    expect(await faults("typed", typed, true)).toBe("");
    expect(await faults("untyped", untyped, false)).toBe("");
  });
});

describe("the examples of doc comments", () => {
  it("[PACK-4] have the types of the published packages", async () => {
    const entries = await publicEntries("client", "rap");
    // An example need not import what its package exports.
    const exported = new Map<string, string>();
    for (const { specifier, exports } of entries)
      for (const { name } of exports) {
        const own = name.split(" ")[1]!;
        if (!exported.has(own)) exported.set(own, specifier);
      }
    const codes: Code[] = [];
    const add = ({ name, examples, members }: PublicName): void => {
      for (const [nth, text] of examples.entries()) {
        const free = (own: string) => uses(text, own) && !isDeclared(own, text);
        const imports = [...exported, ...Object.entries(ELSEWHERE)]
          .filter(([own]) => free(own))
          .map(([own, from]) => `import { ${own} } from "${from}";`);
        const given = Object.entries(NAMES[name.split(" ")[0]!] ?? {})
          .filter(([own]) => free(own))
          .map(([own, type]) => `declare const ${own}: ${type};`);
        // A hook is called in a component, and a tool returns its result.
        const returns = /^return\b|^if .*\) return\b/m.test(text);
        const body = returns ? `export async function example() {\n${text}\n}` : text;
        codes.push({
          // Numbered, because names may differ by case alone.
          name: `${codes.length}${name.replaceAll(/[^\w.]/g, "-")}-${nth}`,
          text: [...imports, ...given, body].join("\n"),
          ending: name.includes("/react") ? "tsx" : "ts",
        });
      }
      for (const member of members) add(member);
    };
    for (const { exports } of entries) for (const one of exports) add(one);
    expect(codes.length).toBeGreaterThan(100);
    expect(await faults("examples", codes, true)).toBe("");
  });
});

const isDeclared = (name: string, text: string) =>
  new RegExp(
    `import [^;]*\\b${name}\\b|(?:const|let|function|class) ${name}\\b|const {[^}]*\\b${name}\\b[^}]*} =`,
  ).test(text);
