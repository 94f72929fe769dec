// Short lives of a thread that together write every type of record.

import { withApproval } from "../../packages/host/src/tool/consent/tool-approval.ts";
import { refusal, type ToolSource } from "../../packages/host/src/tool/tool.ts";
import type { ModelScript, ModelScripts } from "../simulation/fake-model.ts";
import type { SimClient } from "../simulation/sim-client.ts";
import { conversation } from "./conversation.ts";
import { helped } from "./helped.ts";

/** Where a scene plays. */
export interface Stage {
  /** Connected to the current host. */
  readonly client: SimClient;
  /** Ends the host normally, and starts another one with a client. */
  restart(): Promise<void>;
  sleep(ms: number): Promise<void>;
}

export interface Scene {
  readonly name: string;
  /** Must answer the same conversation in the same way, because after a crash the model is called again. */
  readonly model: ModelScripts;
  live(stage: Stage): Promise<void>;
  /** The content of hooks.json in the home. */
  readonly hooks?: object;
}

const DYNAMIC = { type: "function", name: "lookup", description: "L", inputSchema: { type: "object" } };
const QUESTION = {
  questions: [{ id: "q", header: "H", question: "Q?", options: [{ label: "A", description: "d" }] }],
};
const PLAN = { plan: [{ step: "s", status: "pending" }] };

/** A tool of the host that has an effect, and asks before. */
export const actingTools: ToolSource = {
  tools: () => [
    withApproval(
      {
        name: "act",
        namespace: null,
        spec: null,
        begin: () => ({ kind: "dispatch", again: false }),
        perform: async () => ({ kind: "settle", output: "acted", success: true }),
        late: () => refusal("late"),
      },
      ({ thread, turnId, call }) => ({
        key: "act",
        ask: {
          method: "item/commandExecution/requestApproval",
          params: {
            threadId: thread.facts.id,
            turnId,
            itemId: call.callId,
            kind: "command",
            startedAtMs: 1,
            environmentId: null,
            command: "act",
          },
        },
      }),
    ),
  ],
};

/** A patch that gives the same files however often it is applied. */
const PATCH = ["*** Begin Patch", "*** Add File: patched.txt", "+new", "*** End Patch"].join("\n");

const ARGS: Readonly<Record<string, unknown>> = {
  request_user_input: QUESTION,
  update_plan: PLAN,
  apply_patch: { input: PATCH },
  exec_command: { cmd: "rm -rf old", login: false },
};

const done: ModelScript = { steps: [{ do: "say", pieces: ["all ", "done"] }] };

/**
 * `call TOOL …` in the user's last message calls these tools at once; the model answers when all were called. Numbers
 * make inputs differ. Any other message gets a two-word answer.
 */
export const callsTools: ModelScripts = ({ context }) => {
  const { said, called } = conversation(context);
  const [verb, ...words] = said.split(" ");
  if (verb !== "call") return done;
  const missing = words.filter((word) => !/^\d+$/.test(word) && !called.includes(word));
  if (missing.length === 0) return done;
  return { steps: missing.map((name) => ({ do: "call", name, args: ARGS[name] ?? {} }) as const) };
};

const input = (text: string) => ({ input: [{ type: "text", text }] });

async function turn(client: SimClient, threadId: string, text: string): Promise<void> {
  await client.turnEnd(await client.startTurn(threadId, text));
}

async function mark(client: SimClient, threadId: string, type: "read" | "unread"): Promise<void> {
  const { readState } = await client.call("thread/read", { threadId });
  const { revision: expectedRevision } = readState as { revision: string };
  await client.call("thread/readState/update", { threadId, expectedRevision, operation: { type } });
}

const told = (client: SimClient, what: string, threadId: string) =>
  client.until(what, ({ method, params }) => method === what && params?.threadId === threadId);

const threadLife: Scene = {
  name: "what is done to a thread",
  model: callsTools,
  async live({ client }) {
    const threadId = await client.startThread();
    await turn(client, threadId, "hello");
    await client.call("thread/name/set", { threadId, name: "a name" });
    await client.call("thread/metadata/update", { threadId, gitInfo: { branch: "b" } });
    await mark(client, threadId, "read");
    await mark(client, threadId, "unread");
    await client.call("thread/settings/update", { threadId, effort: "low" });
    await client.call("thread/loadSettings/update", { threadId, developerInstructions: "rules" });
    const { section } = await client.call("threadSection/create", { name: "a section" });
    await client.call("thread/section/move", { threadId, sectionId: (section as { id: string }).id });
    const injected = { type: "message", role: "user", content: [{ type: "input_text", text: "put in" }] };
    await client.call("thread/inject_items", { threadId, items: [injected] });
    await turn(client, threadId, "again");
    await client.call("thread/rollback", { threadId, numTurns: 1 });
    await client.call("thread/unload", { threadId });
    await mark(client, threadId, "read");
    await client.call("thread/resume", { threadId });
    await turn(client, threadId, "and again");
  },
};

/** Says half a sentence and waits, answers as another model, or fails every other time. */
const talks: ModelScripts = ({ context }, _random, call) => {
  const { said } = conversation(context);
  if (said === "stutter") {
    return {
      steps: [
        { do: "mumble", pieces: ["half a"] },
        { do: "pause", ms: 10_000 },
      ],
    };
  }
  if (said === "served") return { steps: [{ do: "serve", model: "another" }, ...done.steps] };
  // Every other call fails, whichever host makes it.
  if (said === "try" && call % 2 === 1) return { steps: [{ do: "fail", message: "busy", retries: 5 }] };
  return done;
};

const talk: Scene = {
  name: "what a model says",
  model: talks,
  async live({ client, sleep }) {
    const threadId = await client.startThread();
    const additionalContext = { app: { value: "beside it", kind: "application" } };
    const { turn: first } = await client.call("turn/start", {
      threadId,
      ...input("hello"),
      additionalContext,
    });
    await client.turnEnd((first as { id: string }).id);
    await turn(client, threadId, "served");
    await turn(client, threadId, "try");
    await turn(client, threadId, "try");
    const turnId = await client.startTurn(threadId, "stutter");
    await sleep(3000);
    await client.call("turn/settings/update", { threadId, turnId, effort: "high" });
    await client.call("turn/interrupt", { threadId, turnId });
    await client.turnEnd(turnId);
  },
};

/** Uses twice its context window with each answer, so that each turn begins with a compaction. */
const grows: ModelScripts = ({ context }) => {
  const { said, text } = conversation(context);
  if (!text.includes("write a summary of this conversation")) return { ...done, tokens: 2000 };
  if (said.includes("no summary") || text.includes("no summary, please"))
    return { steps: [{ do: "fail", message: "I cannot" }] };
  return { steps: [{ do: "say", pieces: ["in ", "short"] }] };
};

const compaction: Scene = {
  name: "what becomes of a long conversation",
  model: grows,
  async live({ client }) {
    const threadId = await client.startThread();
    await turn(client, threadId, "hello");
    await turn(client, threadId, "go on");
    const other = await client.startThread();
    await turn(client, other, "no summary, please");
    await turn(client, other, "go on");
  },
};

const questions: Scene = {
  name: "what clients are asked",
  model: callsTools,
  async live({ client }) {
    const threadId = await client.startThread({ dynamicTools: [DYNAMIC] });
    await turn(client, threadId, "call lookup request_user_input update_plan act nobody");
    await turn(client, threadId, "call act");
    const { data } = await client.call("thread/grants/list", { threadId });
    for (const { id: grantId } of data as { id: string }[])
      await client.call("thread/grants/revoke", { threadId, grantId });
  },
};

const askedFirst: Scene = {
  name: "what clients are asked about commands and patches",
  model: callsTools,
  async live({ client }) {
    const full = await client.startThread({ sandbox: "danger-full-access" });
    await turn(client, full, "call exec_command 1");
    // The command was accepted for the session.
    await turn(client, full, "call exec_command 2");
    const threadId = await client.startThread({ sandbox: "read-only" });
    await turn(client, threadId, "call apply_patch");
  },
};

/** Also plays the reviewer: it denies what a user asks to be denied, and the agent never gives up. */
const isReviewed: ModelScripts = (request, random, call) => {
  const { said, called } = conversation(request.context);
  if (request.instructions.includes("in place of a person")) {
    const denies = said.includes("insist");
    const answer = { outcome: denies ? "deny" : "allow", rationale: "a reason" };
    return { steps: [{ do: "say", pieces: [JSON.stringify(answer)] }] };
  }
  if (said.startsWith("insist") && called.length < 5)
    return { steps: [{ do: "call", name: "act", args: {} }] };
  return callsTools(request, random, call);
};

const reviews: Scene = {
  name: "what a model approves in place of a person",
  model: isReviewed,
  async live({ client }) {
    const threadId = await client.startThread({ approvalsReviewer: "auto_review" });
    await turn(client, threadId, "call act");
    const other = await client.startThread({ approvalsReviewer: "auto_review" });
    await turn(client, other, "insist");
    const denied = client.frames.findLast(({ method }) => method === "item/autoApprovalReview/completed");
    const event = { id: denied?.params?.reviewId ?? "", status: "denied" };
    await client.request("thread/approveGuardianDeniedAction", { threadId: other, event });
    await turn(client, other, "call act");
  },
};

const breaksOff: ModelScripts = (request, random, call) => {
  const { said, called } = conversation(request.context);
  // The answer breaks off while the called tool is working.
  if (said === "break off" && called.length === 0) {
    return {
      steps: [
        { do: "call", name: "wait", args: {} },
        { do: "pause", ms: 100 },
        { do: "fail", message: "busy", retries: 5 },
      ],
    };
  }
  return callsTools(request, random, call);
};

const toolServer: Scene = {
  name: "what a tool server does",
  model: breaksOff,
  async live({ client, sleep }) {
    const threadId = await client.startThread();
    await turn(client, threadId, "call again once show sign");
    const waiting = await client.startTurn(threadId, "call wait");
    await sleep(5000);
    // New input is not delayed: the result of the call comes later, as an event.
    await client.startTurn(threadId, "and now");
    await client.turnEnd(waiting);
    await sleep(60 * 60_000);
    await turn(client, threadId, "break off");
    await client.call("thread/unload", { threadId });
  },
};

const subscription: Scene = {
  name: "what a tool server sends by itself",
  model: callsTools,
  async live({ client, sleep }) {
    const threadId = await client.startThread();
    await turn(client, threadId, "call watch");
    await sleep(10 * 60_000);
    await client.call("thread/unload", { threadId, interrupt: true });
  },
};

const choice: Scene = {
  name: "what a tool server asks the user",
  model: callsTools,
  async live({ client, sleep }) {
    const threadId = await client.startThread();
    await turn(client, threadId, "call choose");
    const turnId = await client.startTurn(threadId, "call wait");
    await sleep(5000);
    await client.call("turn/interrupt", { threadId, turnId });
    await client.turnEnd(turnId);
  },
};

const patch: Scene = {
  name: "what a turn changes in files",
  model: callsTools,
  async live({ client }) {
    const threadId = await client.startThread({ sandbox: "workspace-write", approvalPolicy: "never" });
    await turn(client, threadId, "call apply_patch");
  },
};

/** A simulated program that writes a line and runs for long. */
const command: Scene = {
  name: "what commands do",
  model: ({ context }) => {
    const { said, called } = conversation(context);
    const session = /running with session ID (\d+)/.exec(JSON.stringify(context))?.[1];
    if (said.startsWith("run") && !called.includes("exec_command"))
      return {
        steps: [{ do: "call", name: "exec_command", args: { cmd: "echo", tty: true, yield_time_ms: 300 } }],
      };
    if (said.startsWith("write") && session !== undefined && !called.includes("write_stdin"))
      return {
        steps: [{ do: "call", name: "write_stdin", args: { session_id: Number(session), chars: "hello\n" } }],
      };
    return done;
  },
  async live({ client, sleep }) {
    const sandboxPolicy = { type: "dangerFullAccess" };
    const threadId = await client.startThread();
    const { turn: first } = await client.call("turn/start", { threadId, sandboxPolicy, ...input("run 1") });
    await client.turnEnd((first as { id: string }).id);
    await turn(client, threadId, "write 2");
    await client.call("thread/backgroundTerminals/clean", { threadId });
    await told(client, "item/completed", threadId);
    await client.call("thread/shellCommand", { threadId, command: "echo" });
    await sleep(1000);
    await client.request("turn/interrupt", { threadId, turnId: "" });
  },
};

const network: Scene = {
  name: "what a command asks about a host",
  model: ({ context, instructions }) => {
    const { said, called } = conversation(context);
    if (instructions.includes("in place of a person"))
      return { steps: [{ do: "say", pieces: ['{"outcome":"allow"}'] }] };
    const cmd = `connect ${said === "run" ? "example.org" : "example.com"} 443 2 5000`;
    if (called.includes("exec_command")) return done;
    return { steps: [{ do: "call", name: "exec_command", args: { cmd, login: false } }] };
  },
  async live({ client }) {
    const sandboxPolicy = { type: "readOnly", networkAccess: true };
    const threadId = await client.startThread();
    const { turn: first } = await client.call("turn/start", { threadId, sandboxPolicy, ...input("run") });
    await client.turnEnd((first as { id: string }).id);
    const other = await client.startThread({ approvalsReviewer: "auto_review" });
    const elsewhere = { threadId: other, sandboxPolicy, ...input("run elsewhere") };
    const { turn: second } = await client.call("turn/start", elsewhere);
    await told(client, "item/autoApprovalReview/completed", other);
    await client.turnEnd((second as { id: string }).id);
  },
};

/** Calls tools of the MCP server, all at once. */
const callsNotes: ModelScripts = ({ context }) => {
  const { said, called } = conversation(context);
  const [verb, ...words] = said.split(" ");
  const missing = verb === "use" ? words.filter((word) => !/^\d+$/.test(word) && !called.includes(word)) : [];
  if (missing.length === 0) return done;
  return { steps: missing.map((name) => ({ do: "call", name, namespace: "mcp__notes", args: {} }) as const) };
};

const mcpServer: Scene = {
  name: "what an MCP server does and asks",
  model: callsNotes,
  async live({ client, sleep }) {
    const threadId = await client.startThread();
    await turn(client, threadId, "use look write");
    await turn(client, threadId, "use form page think draw");
    await client.call("mcpServer/tool/call", { threadId, server: "notes", tool: "form" });
    const turnId = await client.startTurn(threadId, "use write 2");
    await sleep(5);
    await client.request("turn/interrupt", { threadId, turnId });
    await client.turnEnd(turnId);
    await client.call("thread/unload", { threadId });
  },
};

const queue: Scene = {
  name: "what waits in a queue",
  model: callsTools,
  async live({ client }) {
    const threadId = await client.startThread({ dynamicTools: [DYNAMIC] });
    await turn(client, threadId, "hello");
    await client.call("thread/unload", { threadId });
    const ids: string[] = [];
    for (const text of ["one", "two", "three"]) {
      const { queuedSubmission } = await client.call("thread/queue/add", {
        threadId,
        ...input(text),
        clientUserMessageId: text,
      });
      ids.push((queuedSubmission as { id: string }).id);
    }
    await client.call("thread/queue/update", { threadId, queuedSubmissionId: ids[1]!, ...input("not two") });
    await client.call("thread/queue/reorder", { threadId, queuedSubmissionIds: ids.toReversed() });
    await client.call("thread/queue/delete", { threadId, queuedSubmissionId: ids[0]! });
    await client.call("thread/resume", { threadId });
    await client.until("the end of the queue", ({ method, params }) => {
      const content = (params?.item as { content?: { text: string }[] } | undefined)?.content;
      return method === "item/completed" && content?.[0]?.text === "not two";
    });
  },
};

/** Works on a goal in two turns. */
const pursues: ModelScripts = ({ context }) => {
  const { said, text, called } = conversation(context);
  if (said === "take your time" && !text.includes("<goal>")) return { steps: [{ do: "pause", ms: 10_000 }] };
  if (!text.includes("<goal>")) return done;
  if (called.length === 0) return { steps: [{ do: "call", name: "get_goal", args: {} }] };
  if (called.includes("update_goal")) return done;
  return { steps: [{ do: "call", name: "update_goal", args: { status: "complete" } }] };
};

const goal: Scene = {
  name: "what a goal makes a thread do",
  model: pursues,
  async live({ client, sleep }) {
    const threadId = await client.startThread();
    await client.call("thread/goal/set", { threadId, objective: "an objective" });
    await sleep(60_000);
    const other = await client.startThread();
    const turnId = await client.startTurn(other, "hello");
    await client.turnEnd(turnId);
    await client.call("thread/goal/set", { threadId: other, objective: "another", status: "paused" });
    await client.call("thread/goal/clear", { threadId: other });
    await told(client, "thread/goal/cleared", other);
    // An interrupt pauses the goal until a client resumes the thread.
    const third = await client.startThread();
    const slow = await client.startTurn(third, "take your time");
    await client.call("thread/goal/set", { threadId: third, objective: "a third" });
    await client.call("turn/interrupt", { threadId: third, turnId: slow });
    await client.turnEnd(slow);
    await client.call("thread/resume", { threadId: third });
    await sleep(60_000);
  },
};

const helpers: Scene = {
  name: "what helpers do",
  model: helped,
  async live({ client, sleep }) {
    const threadId = await client.startThread();
    await turn(client, threadId, "spawn wait send wait close send resume send wait");
    await turn(client, threadId, "spawn");
    await sleep(60_000);
    await turn(client, threadId, "and now");
    await client.call("thread/unload", { threadId, interrupt: true });
  },
};

const onEvent = (command: string) => [{ hooks: [{ type: "command", command }] }];

const hooks: Scene = {
  name: "what hooks say",
  model: callsTools,
  hooks: {
    SessionStart: onEvent("hook A note."),
    UserPromptSubmit: onEvent("hook Another note."),
    PreToolUse: onEvent("hook"),
    PostToolUse: onEvent('hook {"decision":"block","reason":"Look again."}'),
    Stop: onEvent('hook-once {"decision":"block","reason":"Go on."}'),
  },
  async live({ client }) {
    const threadId = await client.startThread();
    await turn(client, threadId, "call update_plan");
    await turn(client, threadId, "hello");
    await client.call("thread/unload", { threadId, interrupt: true });
  },
};

const parked: Scene = {
  name: "what one host leaves to the next",
  model: callsTools,
  async live(stage) {
    const threadId = await stage.client.startThread();
    await stage.client.startTurn(threadId, "call wait");
    await stage.sleep(5000);
    await stage.restart();
    await stage.client.call("thread/resume", { threadId });
    await stage.sleep(60 * 60_000);
  },
};

export const scenes: readonly Scene[] = [
  threadLife,
  talk,
  compaction,
  questions,
  askedFirst,
  reviews,
  toolServer,
  subscription,
  choice,
  patch,
  command,
  network,
  queue,
  goal,
  helpers,
  hooks,
  parked,
  mcpServer,
];
