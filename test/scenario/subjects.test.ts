// Who comes with a token that names a subject has what is theirs, and nothing of the host's or of others.
import { createHmac } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type MethodName, methods } from "@bobbin/protocol";
import { beforeAll, describe, expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import type { WireClient } from "../support/wire-client.ts";

const KEY = "0123456789abcdef0123456789abcdef";
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
  /** Not for them at all. */
  | "refused"
  | "not served"
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
  "account/rateLimits/read": { answered: {} },
  "account/bedrock/checkGovCloudRequirements": { answered: {} },
  "config/read": { answered: { includeLayers: true } },
  "configRequirements/read": { answered: {} },
  "config/value/write": "refused",
  "config/batchWrite": "refused",
  "externalAgentConfig/detect": "refused",
  "externalAgentConfig/import": "refused",
  "model/list": { answered: {} },
  "modelProvider/capabilities/read": { answered: {} },
  "server/diagnostics": { answered: {} },
  "feedback/upload": "not served",
  "thread/start": { answered: { cwd: "." } },
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
  "thread/name/set": { ofThread: { name: "Mine now" } },
  "thread/metadata/update": { ofThread: { gitInfo: { branch: "main" } } },
  "thread/revert": { ofThread: { beforeTurnId: "x" } },
  "thread/rollback": { ofThread: { numTurns: 1 } },
  "thread/inject_items": { ofThread: { items: [{ type: "message", role: "user", content: [] }] } },
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
  "thread/read": { ofThread: { includeTurns: true } },
  "thread/turns/list": { ofThread: {} },
  "thread/items/list": { ofThread: {} },
  "thread/list": { answered: {} },
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
  "permissionProfile/list": { answered: {} },
  "skills/list": { answered: {} },
  "hooks/list": { answered: {} },
  "plugin/list": { answered: {} },
  "mcpServerStatus/list": { answered: {} },
  "rap/servers/list": { answered: {} },
  "turn/start": { ofThread: { input: INPUT } },
  "turn/steer": { ofThread: { expectedTurnId: "x", input: INPUT } },
  "turn/interrupt": { ofThread: { turnId: "x" } },
  "process/spawn": "refused",
  "process/writeStdin": "refused",
  "process/resizePty": "refused",
  "process/kill": "refused",
  "review/start": { ofThread: { target: { type: "uncommittedChanges" } } },
};

/** What is asked for where the answer does not depend on it. */
const REFUSED: Partial<Record<MethodName, object>> = {
  "config/value/write": EDIT,
  "config/batchWrite": { edits: [EDIT] },
  "process/spawn": { command: ["true"], cwd: "/", processHandle: "x" },
  "process/writeStdin": { processHandle: "x" },
  "process/resizePty": { processHandle: "x", size: { rows: 1, cols: 1 } },
  "process/kill": { processHandle: "x" },
};

let host: HostProcess;
let ann: WireClient;
let bob: WireClient;
let own: WireClient;
let others: Others;
let before: unknown;

function bearer(sub: string): Record<string, string> {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { sub, exp: Math.floor(Date.now() / 1000) + 600 };
  const text = `${part({ alg: "HS256", typ: "JWT" })}.${part(claims)}`;
  return { Authorization: `Bearer ${text}.${createHmac("sha256", KEY).update(text).digest("base64url")}` };
}

beforeAll(async () => {
  const home = await freshFolder();
  await writeFile(join(home, "config.toml"), CONFIG);
  await writeFile(join(home, "key"), KEY);
  const auth = ["--ws-auth", "signed-bearer-token", "--ws-shared-secret-file", join(home, "key")];
  host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0", "--stdio", ...auth] });
  ann = await host.connect(undefined, bearer("ann"));
  bob = await host.connect(undefined, bearer("bob"));
  for (const client of [ann, bob]) await client.initialize({ experimentalApi: true });
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
    } else if (expectation === "not served") {
      expect((await ask({})).error?.data.code).toBe("methodNotImplemented");
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

  it("[AUTH-5] has changed nothing that is not theirs by any of these", async () => {
    expect(await stateOfOthers()).toEqual(before);
  });

  it("[AUTH-6] hears what the host runs with, and its user hears all of it", async () => {
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

  it("[AUTH-5] is sent no notification about what is not theirs", async () => {
    const { threadId } = others;
    await ann.turn(threadId, "Between us, again");
    await ann.call("thread/name/set", { threadId, name: "Ours" });
    await ann.call("thread/fork", { threadId });
    const goneId = await ann.startThread();
    await ann.turn(goneId, "Not for long");
    await ann.call("thread/archive", { threadId: goneId });
    await ann.call("thread/unarchive", { threadId: goneId });
    await ann.call("thread/delete", { threadId: goneId });
    await own.turn(others.hostId, "To myself");
    // Frames are sent in order: after this reply nothing of the above is still under way.
    await bob.call("model/list");
    const { data } = await bob.call("thread/loaded/list");
    const about = bob.frames.filter(({ method }) => method !== undefined).map(({ params }) => params);
    expect(about.length).toBeGreaterThan(0);
    for (const params of about) expect(data).toContain(params.threadId ?? params.thread?.id);
  });

  it("[AUTH-6] does not see the metrics, which name threads", async () => {
    const refused = await fetch(`${await host.site()}/metrics`, { headers: bearer("bob") });
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ error: { code: "notPermitted" } });
  });
});
