// A real host with a local model and tool servers, and a client.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "./eventually.ts";
import { type HostProcess, spawnHost } from "./host-process.ts";
import { MockModel, type Reply, responses, stream } from "./mock-model.ts";
import { modelHome } from "./model-home.ts";
import type { FakeToolServer, Heard } from "./tool-server.ts";
import { postBack } from "./tool-server.ts";
import type { Received, WireClient } from "./wire-client.ts";

export { say } from "./model-replies.ts";

export const SOCKET = ["--listen", "ws://127.0.0.1:0"];
export const EXPERIMENTAL = { experimentalApi: true };

export const call = (...calls: readonly object[][]): Reply => stream(responses.stream(...calls));

export interface RapStage {
  readonly model: MockModel;
  readonly host: HostProcess;
  readonly home: string;
  readonly cwd: string;
  readonly client: WireClient;
  readonly threadId: string;
}

export interface StageOptions {
  /** The tool servers, by their names in the configuration. */
  readonly servers: Readonly<Record<string, FakeToolServer>>;
  /** Further lines for each server. */
  readonly lines?: readonly string[];
  readonly rap?: readonly string[];
  readonly top?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The model's. */
  readonly wire?: "responses" | "chat";
  /** Of `thread/start`. */
  readonly params?: object;
}

export async function rapHome(
  modelUrl: string,
  { servers, lines = [], rap = [], top = [], wire = "responses" }: StageOptions,
): Promise<{ home: string; cwd: string }> {
  const tables = Object.entries(servers).flatMap(([name, { url }]) => [
    `[rap_servers.${name}]`,
    `url = "${url}"`,
    ...lines,
  ]);
  return modelHome(wire, modelUrl, { top, provider: ["[rap]", ...rap, ...tables] });
}

export async function rapStage(replies: readonly Reply[], options: StageOptions): Promise<RapStage> {
  const model = await MockModel.start(...replies);
  const { home, cwd } = await rapHome(model.url, options);
  const host = await spawnHost({ home, args: SOCKET, env: { ...options.env } });
  const client = await host.join(undefined, EXPERIMENTAL);
  const threadId = await client.startThread({ cwd, ...options.params });
  return { model, host, home, cwd, client, threadId };
}

/** The next server request to a client. */
export function asked(client: WireClient, method: string, from = 0): Promise<Received> {
  return client.waitFor((frame) => frame.method === method && frame.id !== undefined, method, from);
}

/** Posts the result of a call, as its tool would. Returns the status of the reply. */
export function answer({ body }: Heard, result: string | object, more: object = {}): Promise<number> {
  return postBack(body.callback_url, {
    type: "tool_result",
    group_id: body.group_id,
    id: body.id,
    ...(typeof result === "string" ? { text: result } : result),
    ...more,
  });
}

/** The outputs of tool calls in the model's nth request. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was sent.
export function outputs(model: MockModel, nth: number): any[] {
  return model.asked[nth]!.body.input.filter(
    ({ type }: { type: string }) => type === "function_call_output",
  ).map(({ output }: { output: unknown }) => output);
}

/** Which of these tools the model's nth request offers. */
export function offered(model: MockModel, nth: number, ...names: readonly string[]): string {
  const all = model.asked[nth]!.body.tools.map(({ name }: { name: string }) => name);
  return all.filter((name: string) => names.includes(name)).join();
}

/** The items of tool calls that a client was notified of. */
// biome-ignore lint/suspicious/noExplicitAny: as above.
export function toolItems(client: WireClient, method: "item/started" | "item/completed"): any[] {
  return client
    .told(method)
    .map(({ params }) => params.item)
    .filter(({ type }) => type === "mcpToolCall");
}

/** The current records of a thread's journal. */
export async function journalOf({
  home,
  threadId,
}: Pick<RapStage, "home" | "threadId">): Promise<{ readonly path: string; readonly text: string }> {
  const names = await readdir(join(home, "sessions"), { recursive: true });
  const name = names.find((one) => one.endsWith(`${threadId}.jsonl`));
  if (name === undefined) return { path: "", text: "" };
  const path = join(home, "sessions", name);
  return { path, text: await readFile(path, "utf8") };
}

/**
 * Resolves when the host has recorded that the tool server acknowledged a call. After that, a kill leaves no doubt
 * about it.
 */
export async function acknowledged(stage: Pick<RapStage, "home" | "threadId">): Promise<void> {
  const isKnown = async () => (await journalOf(stage)).text.includes('"toolWaiting"');
  await eventually(isKnown, "the call is acknowledged");
}
