// Starts a real host with a client, and a mock model that plays several threads at the same time.
import { type HostProcess, spawnHost } from "./host-process.ts";
import { type Asked, MockModel, type Reply, responses, silent, stream } from "./mock-model.ts";
import { modelHome } from "./model-home.ts";
import type { Received, WireClient } from "./wire-client.ts";

/** What the model does in one answer. */
export type Act =
  | { readonly say: string }
  /** A name may have a namespace: `mcp__own.echo`. */
  | { readonly calls: readonly (readonly [name: string, args: object])[] }
  | { readonly hang: true }
  | { readonly fail: string };

/** What it knows by then. */
export interface Scene {
  readonly asked: Asked;
  /** The outputs of the model's tool calls since its last `play` message, in order. */
  readonly outputs: readonly string[];
}

type Part = Act | ((scene: Scene) => Act | Promise<Act>);

/**
 * The parts by name: `play NAME` in a message selects one. A part has one step per answer; the last step is repeated.
 */
export type Parts = Readonly<Record<string, readonly Part[]>>;

const HELPER_TOOLS = new Set(["spawn_agent", "send_input", "wait_agent", "resume_agent", "close_agent"]);

let calls = 0;

/** A mock model in which each thread plays the part that was selected last. */
export function plays(parts: Parts): Reply {
  return async (response, asked) => {
    const input = asked.body.input as readonly InputItem[];
    const at = input.findLastIndex((item) => partIn(item) !== undefined);
    const outputs = input.slice(at + 1).flatMap((item) => {
      return item.type === "function_call_output" ? [String(item.output)] : [];
    });
    const name = at < 0 ? "" : partIn(input[at]!)!;
    const part = parts[name] ?? [{ say: `There is no part ${name}.` }];
    const next = part[Math.min(answersIn(input.slice(at + 1)), part.length - 1)]!;
    const act = typeof next === "function" ? await next({ asked, outputs }) : next;
    return replyOf(act)(response, asked);
  };
}

/** The number of answers with tool calls. The calls of one answer are adjacent. */
function answersIn(input: readonly InputItem[]): number {
  return input.filter(({ type }, at) => type === "function_call" && input[at - 1]?.type !== type).length;
}

interface InputItem {
  readonly type: string;
  readonly role?: string;
  readonly output?: unknown;
  readonly content?: readonly { readonly text?: string }[];
}

/** The part that a message selects. Input for helpers may also occur in their parents' calls. */
function partIn({ type, role, content }: InputItem): string | undefined {
  if (type !== "message" || role !== "user") return undefined;
  const text = (content ?? []).map((part) => part.text ?? "").join(" ");
  return text.includes("<subagent_notification>") ? undefined : /play (\w+)/.exec(text)?.[1];
}

function replyOf(act: Act): Reply {
  if ("hang" in act) return silent("");
  if ("fail" in act)
    return (response) => {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: act.fail } }));
    };
  if ("say" in act) return stream(responses.stream(responses.message(act.say, `msg_${++calls}`)));
  const items = act.calls.map(([called, args]) => {
    const [name, namespace] = called.split(".").reverse() as [string, string?];
    const place = HELPER_TOOLS.has(name) ? "multi_agent_v1" : namespace;
    return responses.call(name, JSON.stringify(args), `call_${++calls}`, place);
  });
  return stream(responses.stream(...items));
}

/** The ID of the helper that the nth call started. */
export const spawned = ({ outputs }: Scene, nth = 0): string => JSON.parse(outputs[nth]!).agent_id;

export interface HelperStage {
  readonly model: MockModel;
  readonly host: HostProcess;
  readonly home: string;
  readonly cwd: string;
  readonly client: WireClient;
  readonly threadId: string;
}

const SOCKET = ["--listen", "ws://127.0.0.1:0"];

export interface HelperStageOptions {
  /** Lines for the top of the configuration. */
  readonly top?: readonly string[];
  /** Tables. */
  readonly tables?: readonly string[];
  /** Of `thread/start`. */
  readonly params?: object;
  readonly transport?: string;
}

export async function helperStage(
  parts: Parts,
  { top = [], tables = [], params = {}, transport = "ws" }: HelperStageOptions = {},
): Promise<HelperStage> {
  const model = await MockModel.start(plays(parts));
  const provider = ["request_max_retries = 0", "stream_max_retries = 0", ...tables];
  const { home, cwd } = await modelHome("responses", model.url, { top, provider });
  const host = await spawnHost({ home, args: [...SOCKET, ...(transport === "stdio" ? ["--stdio"] : [])] });
  const client = transport === "stdio" ? host.stdio() : await host.connect();
  await client.initialize({ experimentalApi: true });
  const threadId = await client.startThread({ cwd, ...params });
  return { model, host, home, cwd, client, threadId };
}

/** The nth helper that a client was notified of, whichever thread started it. */
export async function helper(client: WireClient, nth = 1): Promise<{ id: string } & Record<string, unknown>> {
  const mine = (): Received[] =>
    client.told("thread/started").filter(({ params }) => params.thread.parentThreadId !== null);
  await client.until(() => mine().length >= nth, `helper ${nth}`);
  return mine()[nth - 1]!.params.thread;
}

/** The completed items of helper tools in a thread, in order. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came.
export function helperCalls(client: WireClient, threadId: string): any[] {
  return client
    .told("item/completed")
    .filter(({ params }) => params.threadId === threadId && params.item.type === "collabAgentToolCall")
    .map(({ params }) => params.item);
}

/** The texts of all user messages in the last model request of a thread that plays this part. */
export function shownTo(model: MockModel, part: string): readonly string[] {
  const asked = model.asked.findLast(({ body }) => {
    const input = body.input as readonly InputItem[];
    return input.findLast((item) => partIn(item) !== undefined && partIn(item) === part) !== undefined;
  });
  return ((asked?.body.input ?? []) as readonly InputItem[]).flatMap((item) =>
    item.type === "message" && item.role === "user"
      ? [(item.content ?? []).map(({ text }) => text ?? "").join("")]
      : item.type === "function_call_output"
        ? [String(item.output)]
        : [],
  );
}
