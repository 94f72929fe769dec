// Who comes with a token that names a subject has what is theirs, and nothing of the host's or of others.
import { once } from "node:events";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type MethodName, methods, type Schema } from "@bobbin/protocol";
import { beforeAll, describe, expect, it } from "vitest";
import { subjectAccess } from "../../packages/host/src/server/method-access.ts";
import { nodeOf, shapeOf } from "../../packages/protocol/src/schema-language.ts";
import { freshFolder } from "../support/folder.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import { DOT_PNG } from "../support/picture.ts";
import { KEY, signedBearer } from "../support/signed-token.ts";
import type { WireClient } from "../support/wire-client.ts";

const CONFIG = `
approval_policy = "never"
instructions = "Be brief."
[model_providers.mine]
name = "Mine"
base_url = "http://127.0.0.1:9/v1"
experimental_bearer_token = "secret-token"
http_headers = { "X-Key" = "secret-header" }
[mcp_servers.files]
command = "files"
env = { KEY = "secret-env" }
[rap_servers.shop]
url = "http://127.0.0.1:9/shop"
headers = { "X-Key" = "secret-shop" }
[other]
password = "secret-other"
`;

/** What a subject hears who asks for this. */
type Expected =
  /** `notPermitted`. */
  | "refused"
  /** `notGranted`, and served to a subject that was granted it. */
  | "granted"
  /** The same answer for a thread of someone else as for one that does not exist. */
  | { readonly ofThread: object }
  /** An answer in which nothing of others is. */
  | { readonly answered: object }
  /** The code of what is told when it names what is someone else's. */
  | { readonly told: string; readonly params: (others: Others) => object };

interface Others {
  readonly threadId: string;
  readonly storedId: string;
  readonly archivedId: string;
  readonly ephemeralId: string;
  readonly hostId: string;
  readonly sectionId: string;
}

/** Well-formed, and of no thread. */
const MISSING = "01a1e11e-8538-703d-834a-e6eb57dc6a9a";

const INPUT = [{ type: "text", text: "Hello" }];
const EDIT = { keyPath: "model", value: "gpt", mergeStrategy: "replace" };

const expected: Record<MethodName, Expected> = {
  initialize: { told: "alreadyInitialized", params: () => ({ clientInfo: { name: "x", version: "1" } }) },
  "account/read": { answered: {} },
  "account/securitySetup/read": { answered: {} },
  "account/login/start": "refused",
  "account/login/cancel": "refused",
  "account/logout": "refused",
  "account/rateLimits/read": { answered: {} },
  "account/usage/read": "refused",
  "account/bedrock/checkGovCloudRequirements": { answered: {} },
  "config/read": { answered: { includeLayers: true } },
  "configRequirements/read": { answered: {} },
  "config/value/write": "refused",
  "config/mcpServer/reload": "refused",
  "config/batchWrite": "refused",
  "externalAgentConfig/detect": "granted",
  "externalAgentConfig/import": "granted",
  "externalAgentConfig/import/recordHistory": "granted",
  "externalAgentConfig/import/readHistories": "granted",
  "model/list": { answered: {} },
  "modelProvider/capabilities/read": { answered: {} },
  "modelProvider/list": "refused",
  "modelProvider/config/write": "refused",
  "server/diagnostics": { answered: {} },
  "server/logs/read": "refused",
  "server/hosts/list": "refused",
  "server/setup/read": "refused",
  "feedback/save": "refused",
  "feedback/upload": "refused",
  "thread/start": { answered: {} },
  "thread/resume": { ofThread: {} },
  "thread/fork": { ofThread: {} },
  "thread/archive": { ofThread: {} },
  "thread/unarchive": { ofThread: {} },
  "thread/delete": { ofThread: {} },
  "thread/unsubscribe": { ofThread: {} },
  "thread/unload": { ofThread: {} },
  "thread/compact/start": { ofThread: {} },
  "thread/settings/update": { ofThread: { model: "other" } },
  "thread/loadSettings/update": { ofThread: {} },
  "thread/memoryMode/set": { ofThread: { mode: "enabled" } },
  "thread/readState/update": { ofThread: { expectedRevision: "x", operation: { type: "read" } } },
  "thread/name/set": { ofThread: { name: "Mine now" } },
  "thread/metadata/update": { ofThread: { gitInfo: { branch: "main" } } },
  "thread/revert": { ofThread: { beforeTurnId: "x" } },
  "thread/rollback": { ofThread: { numTurns: 1 } },
  "thread/files/restore": { ofThread: { beforeTurnId: "x" } },
  "thread/approveGuardianDeniedAction": { ofThread: { event: { id: "r", status: "approved" } } },
  "thread/inject_items": { ofThread: { items: [{ type: "message", role: "user", content: [] }] } },
  "thread/prepareApprovedPlan": { ofThread: { markdown: "# Plan" } },
  "thread/section/move": { ofThread: { sectionId: null } },
  "thread/goal/get": { ofThread: {} },
  "thread/goal/set": { ofThread: { objective: "Win" } },
  "thread/goal/clear": { ofThread: {} },
  "thread/queue/add": { ofThread: { clientUserMessageId: "x", input: INPUT } },
  "thread/queue/list": { ofThread: {} },
  "thread/queue/update": { ofThread: { queuedSubmissionId: "x", input: INPUT } },
  "thread/queue/delete": { ofThread: { queuedSubmissionId: "x" } },
  "thread/queue/reorder": { ofThread: { queuedSubmissionIds: [] } },
  "thread/queue/start": { ofThread: {} },
  "thread/grants/list": { ofThread: {} },
  "thread/grants/revoke": { ofThread: { grantId: "x" } },
  "thread/read": { ofThread: { includeTurns: true } },
  "thread/turns/list": { ofThread: {} },
  "thread/items/list": { ofThread: {} },
  "thread/items/read": { ofThread: { turnId: MISSING, itemIds: ["x"] } },
  "thread/journal/read": { ofThread: {} },
  "thread/list": { answered: {} },
  "thread/searchOccurrences": { ofThread: { searchTerm: "us" } },
  "thread/search": { answered: { searchTerm: "us" } },
  "thread/loaded/list": { answered: {} },
  "threadSection/list": { answered: {} },
  "threadSection/create": { answered: { name: "Bob's" } },
  "threadSection/update": {
    told: "sectionNotFound",
    params: ({ sectionId }) => ({ sectionId, name: "Mine now" }),
  },
  "threadSection/delete": { told: "sectionNotFound", params: ({ sectionId }) => ({ sectionId }) },
  "collaborationMode/list": { answered: {} },
  "experimentalFeature/list": { answered: {} },
  "experimentalFeature/enablement/set": "refused",
  "permissionProfile/list": { answered: {} },
  "skills/list": { answered: {} },
  "skills/config/write": "refused",
  "skills/extraRoots/set": "refused",
  "prompts/list": { answered: {} },
  "prompts/read": { told: "promptNotFound", params: () => ({ name: "own" }) },
  "hooks/list": { answered: {} },
  "app/list": { answered: {} },
  "plugin/installed": { answered: {} },
  "plugin/list": { answered: {} },
  "mcpServerStatus/list": { answered: {} },
  "mcpServer/tool/call": { ofThread: { server: "s", tool: "t" } },
  "mcpServer/resource/read": { told: "mcpServerNotFound", params: () => ({ server: "s", uri: "a:b" }) },
  "mcpServer/prompt/list": { ofThread: {} },
  "mcpServer/prompt/get": { ofThread: { server: "s", name: "p" } },
  "mcpServer/oauth/login": "granted",
  "rap/servers/list": { answered: {} },
  "rules/list": "refused",
  "rules/revoke": "refused",
  "turn/start": { ofThread: { input: INPUT } },
  "turn/steer": { ofThread: { expectedTurnId: "x", input: INPUT } },
  "turn/interrupt": { ofThread: { turnId: "x" } },
  "turn/timeline/read": { ofThread: { turnId: MISSING } },
  "turn/settings/update": { ofThread: { turnId: "x", effort: "low" } },
  "command/exec": "granted",
  "command/exec/write": "granted",
  "command/exec/resize": "granted",
  "command/exec/terminate": "granted",
  "thread/shellCommand": "granted",
  "thread/backgroundTerminals/list": { ofThread: {} },
  "thread/backgroundTerminals/terminate": { ofThread: { processId: "1" } },
  "thread/backgroundTerminals/clean": { ofThread: {} },
  "environment/info": { answered: { environmentId: "local" } },
  "environment/status": { answered: { environmentId: "local" } },
  getAuthStatus: "refused",
  getConversationSummary: {
    told: "noRollout",
    params: ({ storedId }) => ({ conversationId: storedId }),
  },
  gitDiffToRemote: { told: "pathNotAllowed", params: () => ({ cwd: "/" }) },
  "windowsSandbox/setupStart": { answered: { mode: "elevated" } },
  "windowsSandbox/readiness": { answered: {} },
  "environment/add": "refused",
  "fs/readFile": { told: "pathNotAllowed", params: () => ({ path: "/etc/passwd" }) },
  "fs/writeFile": { told: "pathNotAllowed", params: () => ({ path: "/tmp/x", dataBase64: "" }) },
  "fs/createDirectory": { told: "pathNotAllowed", params: () => ({ path: "/tmp/x" }) },
  "fs/getMetadata": { told: "pathNotAllowed", params: () => ({ path: "/etc/passwd" }) },
  "fs/readDirectory": { told: "pathNotAllowed", params: () => ({ path: "/" }) },
  "fs/remove": { told: "pathNotAllowed", params: () => ({ path: "/tmp/x" }) },
  "fs/copy": {
    told: "pathNotAllowed",
    params: () => ({ sourcePath: "/etc/passwd", destinationPath: "/tmp/x" }),
  },
  "fs/watch": { told: "pathNotAllowed", params: () => ({ watchId: "x", path: "/etc/passwd" }) },
  "fs/unwatch": { answered: { watchId: "x" } },
  fuzzyFileSearch: { told: "pathNotAllowed", params: () => ({ query: "x", roots: ["/"] }) },
  "fuzzyFileSearch/sessionStart": {
    told: "pathNotAllowed",
    params: () => ({ sessionId: "x", roots: ["/"] }),
  },
  "fuzzyFileSearch/sessionUpdate": {
    told: "searchSessionNotFound",
    params: () => ({ sessionId: "x", query: "x" }),
  },
  "fuzzyFileSearch/sessionStop": { answered: { sessionId: "x" } },
  "process/spawn": "granted",
  "process/writeStdin": "granted",
  "process/resizePty": "granted",
  "process/kill": "granted",
  "review/start": { ofThread: { target: { type: "uncommittedChanges" } } },
};

/** What is out of reach for a subject, whatever folders of its own it has. */
interface Outside {
  /** The subject's own folder, which is beside it. */
  readonly work: string;
  readonly path: string;
  readonly link: string;
  readonly picture: string;
  /** Of a listener on this machine. */
  readonly url: string;
}
type Attempt = readonly [params: object, code: "pathNotAllowed" | "addressNotAllowed" | "notGranted"];

const places = ({ path, link }: Outside): readonly Attempt[] =>
  [path, link, `${link}/../..`, "/", "/proc/self"].map((cwd) => [{ cwd }, "pathNotAllowed"] as const);
const sandboxes = ({ path }: Outside): readonly Attempt[] => [
  [{ sandboxPolicy: { type: "dangerFullAccess" } }, "notGranted"],
  [{ sandboxPolicy: { type: "externalSandbox", networkAccess: "enabled" } }, "notGranted"],
  [{ sandboxPolicy: { type: "readOnly", networkAccess: true } }, "notGranted"],
  [{ sandboxPolicy: { type: "workspaceWrite", writableRoots: [path] } }, "pathNotAllowed"],
  [{ permissions: ":danger-full-access" }, "notGranted"],
];
const loads = (outside: Outside): readonly Attempt[] => [
  ...places(outside),
  [{ toolServers: { own: { url: outside.url } } }, "addressNotAllowed"],
  [{ runtimeWorkspaceRoots: [outside.path] }, "pathNotAllowed"],
  [{ sandbox: "danger-full-access" }, "notGranted"],
  [{ permissions: ":danger-full-access" }, "notGranted"],
  [{ config: { sandbox_mode: "danger-full-access" } }, "notGranted"],
  [{ config: { default_permissions: ":danger-full-access" } }, "notGranted"],
  [
    { config: { sandbox_mode: "workspace-write", "sandbox_workspace_write.network_access": true } },
    "notGranted",
  ],
  [
    {
      config: {
        sandbox_mode: "workspace-write",
        sandbox_workspace_write: { writable_roots: [outside.path] },
      },
    },
    "pathNotAllowed",
  ],
];
const inputs = ({ path, link, picture }: Outside): readonly Attempt[] =>
  [
    { type: "localImage", path: picture },
    { type: "localImage", path: join(link, "picture.png") },
    { type: "localImage", path: "../outside/picture.png" },
    { type: "localAudio", path: join(path, "sound.wav") },
    { type: "skill", name: "x", path: join(path, "SKILL.md") },
    { type: "skill", name: "x", path: "/proc/self/environ" },
  ].map((part) => [{ input: [...INPUT, part] }, "pathNotAllowed"] as const);

/** Files that a subject names directly; `work` is its own folder. */
const files = ({ path, link, work }: Outside): readonly string[] => [
  join(path, "AGENTS.md"),
  join(link, "AGENTS.md"),
  join(path, "none"),
  join(link, "none"),
  join(work, "..", "outside", "AGENTS.md"),
  "/proc/self/environ",
  `/proc/${process.pid}/root${path}/AGENTS.md`,
];
const changes = (outside: Outside, more: object = {}): readonly Attempt[] =>
  // The folder of a subject itself is not its to remove or to make: somebody could put a link there.
  [...files(outside), outside.work].map((path) => [{ path, ...more }, "pathNotAllowed"] as const);

const searches = ({ path, link, work }: Outside): readonly Attempt[] =>
  [path, link, "/", join(work, ".."), "/proc/self/cwd", join(work, "..", "outside")].map((root) => [
    { query: "agents", sessionId: "x", roots: [work, root] },
    "pathNotAllowed",
  ]);

/** What is refused of methods whose row is `reach`. */
const outOfReach: Partial<Record<MethodName, (outside: Outside) => readonly Attempt[]>> = {
  "thread/start": (outside) => [
    ...loads(outside),
    [{ environments: [{ environmentId: "local", cwd: outside.path }] }, "pathNotAllowed"],
  ],
  "thread/resume": loads,
  "thread/fork": loads,
  "thread/settings/update": (outside) => [...places(outside), ...sandboxes(outside)],
  "thread/loadSettings/update": ({ url }) => [
    [{ toolServers: { own: { url } } }, "addressNotAllowed"],
    [{ toolServers: { shop: { url } } }, "addressNotAllowed"],
    [{ mcpServers: { own: { command: "sh" } } }, "notGranted"],
  ],
  "thread/queue/add": inputs,
  "thread/queue/update": inputs,
  "turn/start": (outside) => [
    ...inputs(outside),
    ...[...places(outside), ...sandboxes(outside)].map(
      ([params, code]): Attempt => [{ input: INPUT, ...params }, code],
    ),
    [{ input: INPUT, runtimeWorkspaceRoots: [outside.path] }, "pathNotAllowed"],
    [{ input: INPUT, environments: [{ environmentId: "local", cwd: outside.link }] }, "pathNotAllowed"],
  ],
  "turn/steer": inputs,
  "skills/list": ({ path, link }) => [
    [{ cwds: [path] }, "pathNotAllowed"],
    [{ cwds: [link] }, "pathNotAllowed"],
  ],
  "prompts/list": ({ path, link }) => [
    [{ cwd: path }, "pathNotAllowed"],
    [{ cwd: link }, "pathNotAllowed"],
  ],
  "prompts/read": ({ path, link }) => [
    [{ name: "own", cwd: path }, "pathNotAllowed"],
    [{ name: "own", cwd: link }, "pathNotAllowed"],
  ],
  "fs/readFile": (outside) => files(outside).map((path) => [{ path }, "pathNotAllowed"]),
  "fs/getMetadata": (outside) => files(outside).map((path) => [{ path }, "pathNotAllowed"]),
  "fs/readDirectory": ({ path, link, work }) =>
    [path, link, "/", join(work, ".."), "/proc/self/cwd"].map((one) => [{ path: one }, "pathNotAllowed"]),
  "fs/writeFile": (outside) => files(outside).map((path) => [{ path, dataBase64: "" }, "pathNotAllowed"]),
  "fs/createDirectory": (outside) =>
    files(outside).map((path) => [{ path: `${path}-folder` }, "pathNotAllowed"]),
  "fs/remove": (outside) => changes(outside, { force: false }),
  "fs/copy": (outside) => [
    ...files(outside).map(
      (path): Attempt => [
        { sourcePath: path, destinationPath: join(outside.work, "copy"), recursive: true },
        "pathNotAllowed",
      ],
    ),
    ...files(outside).map(
      (path): Attempt => [
        { sourcePath: join(outside.work, "own.txt"), destinationPath: path },
        "pathNotAllowed",
      ],
    ),
  ],
  fuzzyFileSearch: searches,
  "fuzzyFileSearch/sessionStart": searches,
  "fs/watch": (outside) => files(outside).map((path) => [{ watchId: path, path }, "pathNotAllowed"]),
  "hooks/list": ({ path }) => [[{ cwds: [path] }, "pathNotAllowed"]],
  gitDiffToRemote: ({ path, link }) => [
    [{ cwd: path }, "pathNotAllowed"],
    [{ cwd: link }, "pathNotAllowed"],
  ],
};

/** Names of fields by which a request can reach beyond the thread. */
const REACHING = new Set(
  "cwd cwds path paths sourcePath destinationPath roots input config environments runtimeWorkspaceRoots sandbox sandboxPolicy permissions toolServers mcpServers".split(
    " ",
  ),
);
/** They have such a field, and nothing is read, called or run by it: it chooses among rows, or is not looked at. */
const HARMLESS = new Set([
  "thread/list",
  "config/read",
  "permissionProfile/list",
  "app/list",
  "plugin/installed",
  "plugin/list",
  "turn/settings/update",
  "windowsSandbox/setupStart",
]);

function fieldsOf(params: Schema<unknown>): readonly string[] {
  const node = nodeOf(params);
  return node.kind === "object" ? shapeOf(node).map(({ key }) => key) : [];
}

/** What is asked for where the answer does not depend on it. */
const REFUSED: Partial<Record<MethodName, object>> = {
  "config/value/write": EDIT,
  "config/batchWrite": { edits: [EDIT] },
  "command/exec": { command: ["true"], cwd: "/", sandboxPolicy: { type: "dangerFullAccess" } },
  "command/exec/write": { processId: "x", closeStdin: true },
  "command/exec/resize": { processId: "x", size: { rows: 1, cols: 1 } },
  "command/exec/terminate": { processId: "x" },
  "thread/shellCommand": { threadId: MISSING, command: "true" },
  "process/spawn": { command: ["true"], cwd: "/", processHandle: "x" },
  "process/writeStdin": { processHandle: "x", closeStdin: true },
  "process/resizePty": { processHandle: "x", size: { rows: 1, cols: 1 } },
  "process/kill": { processHandle: "x" },
  "mcpServer/oauth/login": { name: "nobody" },
  "environment/add": { environmentId: "far", execServerUrl: "ws://127.0.0.1:1" },
  "feedback/upload": { classification: "bug", includeLogs: false },
  "feedback/save": { classification: "bug", savePath: "/nonexistent/report.zip" },
  "externalAgentConfig/import": { migrationItems: [] },
  "externalAgentConfig/import/recordHistory": { providerId: "x", itemTypeResults: [] },
};

let visits = 0;
let hostArgs: readonly string[];
let host: HostProcess;
let ann: WireClient;
let bob: WireClient;
/** Has a folder of its own, and what can be granted is granted to another one. */
let cara: WireClient;
let dan: WireClient;
let own: WireClient;
let outside: Outside;
let caras: { readonly threadId: string; readonly storedId: string; readonly queuedId: string };
let others: Others;
let before: unknown;

/** A listener on this machine that counts who comes. */
async function canary(): Promise<string> {
  const server = createServer((_request, response) => {
    visits++;
    response.end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  server.unref();
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A folder for a subject, and one beside it that it must not see but has a link to. */
async function folders(): Promise<{ readonly work: string; readonly path: string; readonly link: string }> {
  const top = await freshFolder("top");
  const [work, path, link] = [join(top, "work"), join(top, "outside"), join(top, "work", "link")];
  await mkdir(work);
  await mkdir(path);
  await symlink(path, link);
  await writeFile(join(work, "own.txt"), "own");
  await writeFile(join(path, "AGENTS.md"), "secret-agents");
  await writeFile(join(path, "SKILL.md"), "---\nname: x\ndescription: secret-skill\n---\n");
  await writeFile(join(path, "picture.png"), DOT_PNG);
  return { work, path, link };
}

beforeAll(async () => {
  const home = await freshFolder();
  const { work, path, link } = await folders();
  outside = { work, path, link, picture: join(path, "picture.png"), url: await canary() };
  const subjects = `
[subjects.cara]
roots = ["${work}"]
[subjects.dan]
allow = ["full-access", "network", "mcp-servers", "processes", "import"]
`;
  await writeFile(join(home, "config.toml"), CONFIG + subjects);
  await writeFile(join(home, "key"), KEY);
  const auth = ["--ws-auth", "signed-bearer-token", "--ws-shared-secret-file", join(home, "key")];
  hostArgs = ["--listen", "ws://127.0.0.1:0", "--stdio", ...auth];
  host = await spawnHost({ home, args: hostArgs });
  ann = await host.connect(undefined, signedBearer("ann"));
  bob = await host.connect(undefined, signedBearer("bob"));
  cara = await host.connect(undefined, signedBearer("cara"));
  dan = await host.connect(undefined, signedBearer("dan"));
  for (const client of [ann, bob, cara, dan]) await client.initialize({ experimentalApi: true });
  const threadId = await ann.startThread();
  await ann.turn(threadId, "Between us");
  const archivedId = await ann.startThread();
  await ann.turn(archivedId, "Between us, too");
  await ann.call("thread/archive", { threadId: archivedId });
  const storedId = await ann.startThread();
  await ann.turn(storedId, "Between us, for later");
  await ann.call("thread/unload", { threadId: storedId });
  const ephemeralId = await ann.startThread({ ephemeral: true });
  const { section } = await ann.call("threadSection/create", { name: "Ann's" });
  own = host.stdio();
  await own.initialize({ experimentalApi: true });
  const hostId = await own.startThread();
  others = { threadId, storedId, archivedId, ephemeralId, hostId, sectionId: section.id };
  before = await stateOfOthers();
  const started = await cara.startThread();
  await cara.turn(started, "Mine");
  const stored = await cara.startThread();
  await cara.turn(stored, "Mine, for later");
  await cara.call("thread/unload", { threadId: stored });
  const queued = await cara.call("thread/queue/add", {
    threadId: stored,
    clientUserMessageId: "later",
    input: INPUT,
  });
  caras = { threadId: started, storedId: stored, queuedId: queued.queuedSubmission.id };
});

/** All that can be read of what is not the subject's. */
async function stateOfOthers(): Promise<unknown> {
  const { sectionId: _, ephemeralId, ...threads } = others;
  const { data: sections } = await own.call("threadSection/list");
  return {
    sections: sections.filter(({ name }: { name: string }) => name !== "Bob's"),
    loaded: (await ann.call("thread/loaded/list")).data,
    ephemeral: await own.call("thread/read", { threadId: ephemeralId }),
    threads: await Promise.all(
      Object.values(threads).map((threadId) => own.call("thread/read", { threadId, includeTurns: true })),
    ),
  };
}

describe("a subject", () => {
  it.each(Object.keys(methods) as MethodName[])("[AUTH-6] who asks for %s", async (method) => {
    const expectation = expected[method];
    const ask = (params: object) => bob.request(method, params);
    if (expectation === "refused") {
      const { error } = await ask(REFUSED[method] ?? {});
      expect(error).toMatchObject({ code: -32600, data: { code: "notPermitted", retryable: false } });
    } else if (expectation === "granted") {
      expect((await ask(REFUSED[method] ?? {})).error?.data.code).toBe("notGranted");
      const { error } = await dan.request(method, REFUSED[method] ?? {});
      expect([
        undefined,
        "methodNotImplemented",
        "processNotFound",
        "commandNotFound",
        "threadNotFound",
        "mcpLoginServerNotFound",
      ]).toContain(error?.data.code);
    } else if ("told" in expectation) {
      expect((await ask(expectation.params(others))).error?.data.code).toBe(expectation.told);
    } else if ("ofThread" in expectation) {
      const answer = async (threadId: string) => {
        const { error, result } = await ask({ threadId, ...expectation.ofThread });
        return JSON.stringify({ error, result }).replaceAll(threadId, "ID");
      };
      const missing = await answer(MISSING);
      const { sectionId: _, ...threads } = others;
      for (const [which, threadId] of Object.entries(threads))
        expect(await answer(threadId), which).toBe(missing);
    } else {
      const { error, result, text } = await ask(expectation.answered);
      expect(error).toBeUndefined();
      expect(result).toBeDefined();
      expect(text).not.toMatch(new RegExp(`${Object.values(others).join("|")}|secret-`));
    }
  });

  it("[AUTH-5] finds no thread of others on another host of the same home, either", async () => {
    const second = await spawnHost({ home: host.home, args: hostArgs });
    const elsewhere = await second.connect(undefined, signedBearer("bob"));
    await elsewhere.initialize({ experimentalApi: true });
    for (const [method, expectation] of Object.entries(expected)) {
      if (typeof expectation !== "object" || !("ofThread" in expectation)) continue;
      const answer = async (threadId: string) => {
        const { error, result } = await elsewhere.request(method, { threadId, ...expectation.ofThread });
        return JSON.stringify({ error, result }).replaceAll(threadId, "ID");
      };
      expect(await answer(others.threadId), method).toBe(await answer(MISSING));
    }
  });

  it("[AUTH-6] has an expectation here for each row of the table", () => {
    const kinds = Object.entries(subjectAccess).map(([method, access]) => {
      const expectation = expected[method as MethodName];
      if (access === "hostUser") return [method, expectation === "refused"];
      if (typeof access === "object") return [method, expectation === "granted"];
      if (access === "reach") return [method, (outOfReach[method as MethodName]?.(outside).length ?? 0) > 0];
      return [method, typeof expectation === "object" && outOfReach[method as MethodName] === undefined];
    });
    expect(kinds.filter(([, fits]) => !fits)).toEqual([]);
    const misplaced = Object.entries(methods).filter(([method, { params }]) => {
      const access = subjectAccess[method as MethodName];
      const names = fieldsOf(params);
      if (typeof access === "object" || access === "hostUser" || access === "reach") return false;
      return names.some((name) => REACHING.has(name)) && !HARMLESS.has(method);
    });
    expect(misplaced.map(([method]) => method)).toEqual([]);
    for (const [method, { params }] of Object.entries(methods))
      if (fieldsOf(params).includes("threadId")) expect(subjectAccess[method as MethodName]).not.toBe("open");
  });

  it.each(Object.keys(outOfReach) as MethodName[])(
    "[REACH-1] [REACH-4] who leads %s astray",
    async (method) => {
      // A load reads what it is about only when the thread is not loaded yet.
      const threadId = method === "thread/resume" ? caras.storedId : caras.threadId;
      const about = {
        threadId,
        clientUserMessageId: "x",
        queuedSubmissionId: caras.queuedId,
        expectedTurnId: "x",
        ...(method.startsWith("thread/queue/") && { threadId: caras.storedId }),
      };
      for (const [params, code] of outOfReach[method]!(outside)) {
        const { error, text } = await cara.request(method, { ...about, ...params });
        expect(error?.data, JSON.stringify(params)).toMatchObject({ code, retryable: false });
        expect(text).not.toContain("secret-");
      }
      const { data } = await cara.call("thread/queue/list", { threadId: caras.storedId });
      expect(data).toHaveLength(1);
      expect(visits).toBe(0);
    },
  );

  it("[AUTH-5] has changed nothing of others by any of these", async () => {
    expect(await stateOfOthers()).toEqual(before);
  });

  it("[AUTH-6] gets the configuration without secrets of the host, and the host's user gets all of it", async () => {
    const shown = await bob.call("config/read", { includeLayers: true });
    expect(shown).toMatchObject({
      config: { approval_policy: "never", instructions: "Be brief.", model_providers: {} },
      layers: null,
    });
    const { text } = await own.request("config/read", { includeLayers: true });
    for (const secret of ["token", "header", "env", "other"]) expect(text).toContain(`secret-${secret}`);
    const ofAll = await own.call("server/diagnostics");
    expect(ofAll.threads.map((one: { threadId: string }) => one.threadId)).toContain(others.threadId);
    const ofAnn = await ann.call("server/diagnostics");
    const { threadId, ephemeralId } = others;
    expect(ofAnn.threads).toMatchObject([{ threadId }, { threadId: ephemeralId }]);
  });

  it("[AUTH-5] gets no notification about threads and sections of others", async () => {
    const { threadId, sectionId } = others;
    await ann.turn(threadId, "Between us, again");
    await ann.call("thread/name/set", { threadId, name: "Ours" });
    await ann.call("thread/fork", { threadId });
    const goneId = await ann.startThread();
    await ann.turn(goneId, "Not for long");
    await ann.call("thread/archive", { threadId: goneId });
    await ann.call("thread/unarchive", { threadId: goneId });
    await ann.call("thread/delete", { threadId: goneId });
    await ann.call("thread/section/move", { threadId, sectionId });
    // The host's user changes a section of Ann's, and Ann is notified.
    await own.call("threadSection/update", { sectionId, name: "Ann's, renamed" });
    for (const client of [ann, own])
      await client.waitFor(
        ({ method, params }) => method === "threadSection/changed" && params.sectionId === sectionId,
        "threadSection/changed",
      );
    await own.turn(others.hostId, "To myself");
    // Frames are sent in order: after this reply nothing of the above is still under way.
    await bob.call("model/list");
    const { data } = await bob.call("thread/loaded/list");
    const { data: sections } = await bob.call("threadSection/list");
    const mine = [...data, ...sections.map(({ id }: { id: string }) => id)];
    const about = bob.frames
      .filter(({ method }) => method !== undefined && !method.startsWith("windowsSandbox/"))
      .map(({ params }) => params);
    expect(about.length).toBeGreaterThan(0);
    for (const params of about)
      expect(mine).toContain(params.threadId ?? params.thread?.id ?? params.sectionId);
  });

  it("[AUTH-6] does not see the metrics, which name threads", async () => {
    const refused = await fetch(`${await host.site()}/metrics`, { headers: signedBearer("bob") });
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ error: { code: "notPermitted" } });
  });
});
