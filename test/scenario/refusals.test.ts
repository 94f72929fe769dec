import { expect, it } from "vitest";
import { stdioHost } from "../support/host-process.ts";

const NOBODY = "01a1e0d3-0000-7000-8000-000000000000";
const text = [{ type: "text", text: "x" }];

it("[LIFE-17] refuses with the texts that clients compare", async () => {
  const { client } = await stdioHost({ capabilities: { experimentalApi: true } });
  const threadId = await client.startThread();
  await client.turn(threadId, "hi");
  const { section } = await client.call("threadSection/create", { name: "Here" });
  const sectionId = section.id;
  const move = "thread/section/move";
  const two = { permissions: ":workspace", sandbox: "read-only" };
  const twice = "`permissions` cannot be combined with `sandbox`";
  const twicePolicy = { permissions: ":workspace", sandboxPolicy: { type: "readOnly" } };
  const tool = { name: "a", description: "d", inputSchema: { type: "object" } };
  const mixed = "Invalid request: dynamic tools must use either canonical or legacy format consistently";
  const kind = { ...tool, type: "function" };
  const write = (keyPath: string) => ({ keyPath, value: "y", mergeStrategy: "replace" });
  const cases: readonly (readonly [
    method: string,
    params: object,
    message: string | RegExp,
    code?: number,
  ])[] = [
    ["thread/start", two, twice],
    ["thread/resume", { threadId, ...two }, twice],
    ["thread/fork", { threadId, ...two }, twice],
    ["turn/start", { threadId, input: text, ...twicePolicy }, `${twice.slice(0, -1)}Policy\``],
    ["thread/settings/update", { threadId, ...twicePolicy }, `${twice.slice(0, -1)}Policy\``],
    ["thread/loaded/list", { cursor: "bad" }, "invalid cursor: bad"],
    ["thread/search", { searchTerm: " " }, "thread/search requires a non-empty searchTerm"],
    ["thread/list", { sortKey: "section_position" }, "section-position sorting requires a section filter"],
    [
      "thread/list",
      { includeAttachedThreads: true },
      "includeAttachedThreads requires a non-empty searchTerm",
    ],
    ["thread/list", { parentThreadId: "bad" }, /^invalid parent thread id: /],
    ["thread/list", { ancestorThreadId: "" }, /^invalid ancestor thread id: /],
    ["thread/metadata/update", { threadId }, "thread metadata update must include at least one field"],
    ["thread/metadata/update", { threadId, gitInfo: {} }, "gitInfo must include at least one field"],
    ["thread/metadata/update", { threadId, gitInfo: { junk: 1 } }, "gitInfo must include at least one field"],
    ["thread/metadata/update", { threadId, gitInfo: { branch: " " } }, "gitInfo.branch must not be empty"],
    ["threadSection/create", { name: " " }, "section name must not be empty", -32602],
    [move, { threadId, sectionId: "nope" }, "section nope does not exist"],
    [move, { threadId: NOBODY, sectionId: "nope" }, `thread not found: ${NOBODY}`],
    [
      move,
      { threadId, sectionId, beforeThreadId: NOBODY },
      `before thread ${NOBODY} is not in section ${sectionId}`,
    ],
    [move, { threadId, sectionId, beforeThreadId: "bad" }, /^invalid before thread id: /],
    [
      move,
      { threadId, sectionId, beforeThreadId: threadId },
      `thread ${threadId} cannot be moved before itself`,
    ],
    [
      move,
      { threadId, sectionId: null, beforeThreadId: NOBODY },
      "beforeThreadId requires a non-null sectionId",
    ],
    ["turn/steer", { threadId, input: text, expectedTurnId: "" }, "expectedTurnId must not be empty"],
    ["thread/start", { dynamicTools: [{ ...kind, exposeToContext: true }] }, mixed],
    ["thread/start", { dynamicTools: [{ ...kind, namespace: "n" }] }, mixed],
    ["thread/start", { dynamicTools: [kind, { ...tool, name: "b" }] }, mixed],
    ["thread/start", { dynamicTools: [{ ...tool, type: {} }] }, /dynamicTools\[0\]\.type/, -32602],
    ["config/value/write", write("profile"), /^`profile` is a legacy config selector/],
    [
      "config/batchWrite",
      { edits: [write("profiles.x.model")] },
      /^`profiles` contains legacy config profile/,
    ],
    ["thread/start", { config: { profile: "p" } }, /legacy `profile = "p"` config is no longer supported/],
  ];
  for (const [method, params, message, code = -32600] of cases) {
    const refusal = await client.refusal(method, params);
    const words = typeof message === "string" ? message : expect.stringMatching(message);
    expect(refusal, `${method} ${JSON.stringify(params)}`).toMatchObject({ code, message: words });
  }
  const { thread } = await client.call("thread/metadata/update", { threadId, gitInfo: { branch: " b " } });
  expect(thread.gitInfo.branch).toBe("b");
});
