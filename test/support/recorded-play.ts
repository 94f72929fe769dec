// Plays a recorded case against a host: the same replies of the model and the same calls of the client, with a second
// client that follows the thread.
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { freshFolder } from "./folder.ts";
import { type Asked, type MockModel, type Reply, responses, silent, stream } from "./mock-model.ts";
import { DOT_PNG } from "./picture.ts";
import type { RecordedCase, Step } from "./recorded-case.ts";
import type { Received, WireClient } from "./wire-client.ts";

/** Notifications whose position in the recorded order may vary: deltas, counters and certain states. */
const UNORDERED = new Set([
  "account/rateLimits/updated",
  "command/exec/outputDelta",
  "item/agentMessage/delta",
  "item/commandExecution/outputDelta",
  "process/outputDelta",
  "item/mcpToolCall/progress",
  "mcpServer/startupStatus/updated",
  "thread/readState/changed",
  "thread/settings/updated",
  "thread/started",
  "thread/status/changed",
  "thread/tokenUsage/updated",
  "warning",
]);

export interface Stage {
  readonly model: MockModel;
  /** Plays the recorded client. */
  readonly client: WireClient;
  /** Follows the thread. The Codex CLI has one client on stdio, and none that follows. */
  readonly follower?: WireClient;
  /** Which client answers requests. For the other client, the requests must be resolved. */
  readonly answers: "client" | "follower";
}

/** A case that was played. */
export interface Played {
  readonly cwd: string;
  readonly outside: string;
  /**
   * Numbers of seconds that only the commands of this case sleep: `$MARK1` and so on. They identify the processes.
   */
  readonly marks: readonly string[];
  /** The notifications to both clients, and the replies to the calling client. */
  readonly frames: readonly Received[];
  /** The items as they completed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came.
  readonly items: readonly any[];
}

let played = 0;

/** Plays a case, and compares the notifications to both clients with the recorded order. */
export async function play(recorded: RecordedCase, stage: Stage): Promise<Played> {
  const player = await Player.start(recorded, stage);
  return player.play();
}

/** Plays a case, and returns the order that came, and what was wrong with it. Never throws. */
export async function orderOf(
  recorded: RecordedCase,
  stage: Stage,
): Promise<{ lines: readonly string[]; problem: string | null }> {
  let player: Player | undefined;
  try {
    player = await Player.start(recorded, stage);
    await player.playInOrder();
    return { lines: player.lines(), problem: null };
  } catch (cause) {
    return { lines: player?.lines() ?? [], problem: (cause as Error).message };
  }
}

class Player {
  readonly #recorded: RecordedCase;
  readonly #stage: Stage;
  readonly #cwd: string;
  readonly #outside: string;
  readonly #marks: readonly string[];
  readonly #threadId: string | undefined;
  /** Where the case begins in the frames of each client. */
  readonly #from: { readonly client: number; readonly follower: number };
  /** The methods that were called, by id. */
  readonly #calls = new Map<unknown, string>();
  readonly #expected: string[] = [];
  readonly #nth = ++played;

  private constructor(
    recorded: RecordedCase,
    stage: Stage,
    folders: { readonly cwd: string; readonly outside: string },
    threadId: string | undefined,
  ) {
    this.#recorded = recorded;
    this.#stage = stage;
    this.#cwd = folders.cwd;
    this.#outside = folders.outside;
    this.#threadId = threadId;
    this.#marks = [1, 2, 3].map((mark) => `${9_500_000 + process.pid}.${this.#nth}${mark}`);
    this.#from = { client: stage.client.frames.length, follower: stage.follower?.frames.length ?? 0 };
  }

  static async start(recorded: RecordedCase, stage: Stage): Promise<Player> {
    const folders = { cwd: await freshFolder("work"), outside: await freshFolder("outside") };
    const { client, follower } = stage;
    if (recorded.thread === undefined) return new Player(recorded, stage, folders, undefined);
    // A model that gets `apply_patch` as a freeform tool, like the recorded one.
    const threadId = await client.startThread({ cwd: folders.cwd, model: "gpt-5.5", ...recorded.thread });
    await follower?.call("thread/resume", { threadId });
    return new Player(recorded, stage, folders, threadId);
  }

  async play(): Promise<Played> {
    await this.playInOrder();
    const { client, follower } = this.#stage;
    for (const one of this.#clients()) {
      this.#checkOutput(one);
      this.#checkStatus(one);
    }
    const items = this.#frames(client)
      .filter(({ method }) => method === "item/completed")
      .map(({ params }) => params.item);
    if (this.#threadId !== undefined) {
      await client.call("thread/delete", { threadId: this.#threadId });
      await follower?.about(this.#threadId, "thread/deleted");
    }
    const { cwd, outside, marks } = { cwd: this.#cwd, outside: this.#outside, marks: this.#marks };
    return { cwd, outside, marks, items, frames: this.#frames(client) };
  }

  /** Plays the case. Throws if a client is sent something else than expected, or in another order. */
  async playInOrder(): Promise<void> {
    const { model, client, follower } = this.#stage;
    const replies = this.#recorded.steps.flatMap((step, at) =>
      step.kind === "model" ? [this.#reply(step, `call_${at}`)] : [],
    );
    model.reply(...replies);
    for (const step of this.#recorded.steps) await this.#take(step);
    await this.#seen(client, this.#expected);
    const shared = this.#expected.filter((line) => !isReply(line));
    if (follower !== undefined) await this.#seen(follower, this.#threadId === undefined ? [] : shared);
    // After these replies, any unexpected frame would have arrived.
    await Promise.all(this.#clients().map((one) => one.call("thread/loaded/list", {})));
    expect(this.#lines(client)).toEqual(diffsFirst(this.#expected));
    if (follower !== undefined)
      expect(this.#lines(follower)).toEqual(this.#threadId === undefined ? [] : diffsFirst(shared));
  }

  #clients(): readonly WireClient[] {
    const { client, follower } = this.#stage;
    return follower === undefined ? [client] : [client, follower];
  }

  /** What the calling client was sent so far. */
  lines(): readonly string[] {
    return this.#lines(this.#stage.client);
  }

  async #take(step: Step): Promise<void> {
    if (step.kind === "host") this.#expected.push(step.line);
    if (step.kind === "model" || step.kind === "host") return;
    await this.#seen(this.#stage.client, this.#expected);
    if (step.kind === "file") await writeFile(join(this.#cwd, step.path), step.text);
    else if (step.kind === "picture") await writeFile(join(this.#cwd, step.path), DOT_PNG);
    else if (step.kind === "git") this.#makeRepository();
    else if (step.kind === "output") await this.#written(step);
    else if (step.kind === "status") await this.#inState(step);
    else if (step.method === "answer") await this.#answer(JSON.parse(this.#filled(step.params)));
    else this.#call(step.method, JSON.parse(this.#filled(step.params)));
  }

  async #inState({ server, status }: Extract<Step, { kind: "status" }>): Promise<void> {
    const { client } = this.#stage;
    const states = (): string[] =>
      this.#frames(client)
        .filter(({ method, params }) => method?.startsWith("mcpServer/startup") && params.name === server)
        .map(({ params }) => params.status);
    await client.until(() => states().includes(status), `${server} is ${status}`);
  }

  async #written({ process: name, text }: Extract<Step, { kind: "output" }>): Promise<void> {
    const { client } = this.#stage;
    const output = (): string =>
      this.#frames(client)
        .filter(({ method, params }) => isOf(params, name) && method?.endsWith("outputDelta"))
        .map(({ params }) => Buffer.from(params.deltaBase64, "base64").toString())
        .join("");
    await client.until(() => output().includes(text), `${text} from ${name}`);
  }

  #makeRepository(): void {
    const git = (...args: readonly string[]): void => {
      const who = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
      execFileSync("git", [...who, ...args], { cwd: this.#cwd, stdio: "ignore" });
    };
    git("init", "-q");
    git("add", ".");
    git("commit", "-q", "--allow-empty", "-m", "first");
  }

  #call(method: string, params: object): void {
    const id = `${this.#nth}-${this.#calls.size + 1}`;
    this.#calls.set(id, method);
    const input = [{ type: "text", text: "go on" }];
    const more = {
      ...(this.#threadId !== undefined && { threadId: this.#threadId }),
      ...(method === "turn/start" && { input }),
      ...(method === "turn/interrupt" && { turnId: this.#lastOf("turn/started").params.turn.id }),
    };
    // The Codex CLI takes no params here.
    const hasParams = method !== "config/mcpServer/reload";
    this.#stage.client.send({ id, method, ...(hasParams && { params: { ...params, ...more } }) });
  }

  async #answer(result: object): Promise<void> {
    const one = this.#stage[this.#stage.answers]!;
    const question = this.#frames(this.#stage.client).findLast(isQuestion);
    if (question === undefined) throw new Error("the client should answer, and nothing was asked");
    const { id } = question;
    await one.until(
      () => this.#frames(one).some((frame) => isQuestion(frame) && frame.id === id),
      "the question",
    );
    one.send({ id, result });
  }

  #reply({ tool, args }: Extract<Step, { kind: "model" }>, callId: string): Reply {
    if (tool === "hang") return silent("");
    return (response, asked) => {
      const filled = this.#filled(args).replaceAll("$SESSION", () => sessionOf(asked));
      const text = tool === "apply_patch" || tool === "say" ? JSON.parse(filled) : filled;
      return stream(responses.stream(itemsOf(tool, text, callId)))(response, asked);
    };
  }

  /** Fills in the placeholders of a text. */
  #filled(text: string): string {
    return text
      .replaceAll("$WORK", this.#cwd)
      .replaceAll("$OUTSIDE", this.#outside)
      .replaceAll(/\$MARK(\d)/g, (_, nth) => this.#marks[nth - 1]!)
      .replaceAll(/\$PROCESS(\d)/g, (_, nth) => this.#processIds()[nth - 1]!);
  }

  #processIds(): string[] {
    const ids = this.#frames(this.#stage.client).map(({ params }) => params?.item?.processId);
    return [...new Set<string>(ids.filter((id) => typeof id === "string"))];
  }

  #lastOf(wanted: string): Received {
    return this.#frames(this.#stage.client).findLast(({ method }) => method === wanted)!;
  }

  /** The frames of this case, in order. */
  #frames(client: WireClient): Received[] {
    const from = client === this.#stage.client ? this.#from.client : this.#from.follower;
    return client.frames.slice(from).filter(({ id, method, params }) => {
      if (method === undefined) return this.#calls.has(id);
      return this.#threadId === undefined || params?.threadId === this.#threadId;
    });
  }

  #lines(client: WireClient): string[] {
    let diff: string | undefined;
    const lines = this.#frames(client)
      .filter(({ method, params }) => {
        if (method === "turn/started") diff = undefined;
        if (method !== "turn/diff/updated") return method === undefined || !UNORDERED.has(method);
        // Whether the same diff is sent again may vary.
        const isNew = params.diff !== diff;
        diff = params.diff;
        return isNew;
      })
      .map((frame) => lineOf(frame, this.#calls.get(frame.id)));
    return diffsFirst(lines);
  }

  /** Waits until a client has got as many lines as expected. If that does not happen, says where they differ. */
  async #seen(client: WireClient, expected: readonly string[]): Promise<void> {
    const what = `${this.#recorded.name}: ${expected.at(-1)}`;
    await client
      .until(() => this.#lines(client).length >= expected.length, what)
      .catch((error) => {
        expect(this.#lines(client), `${error}`).toEqual(expected);
      });
  }

  /** The thread's status is waiting before the request is sent, and until it is resolved. */
  #checkStatus(client: WireClient): void {
    let waits = false;
    for (const frame of this.#frames(client)) {
      const { method, params } = frame;
      if (method === "thread/status/changed") waits = (params.status.activeFlags ?? []).length > 0;
      if (isQuestion(frame) || method === "serverRequest/resolved")
        expect(waits, `the thread waits at ${method}`).toBe(true);
    }
    expect(waits, "the thread waits at the end").toBe(false);
  }

  /** The deltas of an output come between the start and the end of its item, and add up to the item's output. */
  #checkOutput(client: WireClient): void {
    const outputs = new Map<string, string>();
    for (const { method, params } of this.#frames(client)) {
      const item = params?.item?.type === "commandExecution" ? params.item : undefined;
      if (method === "item/commandExecution/outputDelta") {
        expect(outputs.has(params.itemId), `output of ${params.itemId} outside of its item`).toBe(true);
        outputs.set(params.itemId, outputs.get(params.itemId) + params.delta);
      } else if (method === "item/started" && item !== undefined) outputs.set(item.id, "");
      else if (method === "item/completed" && item !== undefined) {
        expect(outputs.get(item.id)).toBe(item.aggregatedOutput ?? "");
        outputs.delete(item.id);
      }
    }
  }
}

/**
 * Moves diffs before the model's next message: a diff may be sent while that message already streams. Commands,
 * patches and the end of the turn wait for the diff.
 */
function diffsFirst(lines: readonly string[]): string[] {
  const sorted: string[] = [];
  for (const line of lines) {
    let at = sorted.length;
    if (line === "turn/diff/updated") while (sorted[at - 1]?.endsWith(" agentMessage")) at--;
    sorted.splice(at, 0, line);
  }
  return sorted;
}

/** Whether a notification is about a program that a client started under this name. */
const isOf = (params: Received["params"], name: string): boolean =>
  params?.processId === name || params?.processHandle === name;

/** The session ID in the output of the model's last command. */
const sessionOf = ({ body }: Asked): string =>
  JSON.stringify(body.input)
    .match(/(?<=session ID )\d+/g)!
    .at(-1)!;

/** The model's items: a message or a call. A tool in a namespace is written as `NAMESPACE.NAME`. */
function itemsOf(tool: string, text: string, callId: string): object[] {
  if (tool === "say") return responses.message(text);
  if (tool === "apply_patch") return responses.customCall(tool, text, callId);
  if (tool === "tool_search") return responses.toolSearch(JSON.parse(text), callId);
  const [namespace, name] = tool.split(".");
  return name === undefined
    ? responses.call(tool, text, callId)
    : responses.call(name, text, callId, namespace);
}

const isReply = (line: string): boolean => /^(reply|error) /.test(line);

const isQuestion = ({ id, method }: Received): boolean => id !== undefined && method !== undefined;

/** Formats a frame as a line of the recorded cases. */
function lineOf({ method, params, result, error }: Received, call: string | undefined): string {
  if (method === undefined) return replyLine(call!, error === undefined ? result : undefined);
  const words = [method];
  const { item } = params;
  if (item?.type === "commandExecution") {
    words.push(item.type, item.status, item.source);
    if (method === "item/started") words.push(typesOf(item.commandActions));
    else if (item.exitCode !== null) words.push(`exit ${item.exitCode}`);
  } else if (item?.type === "fileChange") words.push(item.type, item.status, kindsOf(item.changes));
  else if (item?.type === "mcpToolCall") {
    words.push(item.type, item.status, `${item.server}/${item.tool}`);
    if (item.error !== null) words.push("error");
  } else if (item !== undefined) words.push(item.type);
  else if (method === "mcpServer/elicitation/request") words.push(params.mode, kindOf(params._meta));
  else if (method === "turn/completed") words.push(params.turn.status);
  else if (params.review !== undefined) words.push(params.review.status, params.action.type);
  else if (method === "process/exited") words.push(`exit ${params.exitCode}`);
  else if (params.stdin !== undefined) words.push(JSON.stringify(params.stdin));
  return words.join(" ");
}

const kindOf = (meta: { readonly codex_approval_kind?: string } | null): string =>
  meta?.codex_approval_kind ?? "of the server";

// biome-ignore lint/suspicious/noExplicitAny: results differ by method.
function replyLine(call: string, result: any): string {
  if (result === undefined) return `error ${call}`;
  const { data, terminated, exitCode } = result;
  const shown = data?.length ?? terminated ?? (exitCode === undefined ? "" : `exit ${exitCode}`);
  return `reply ${call} ${shown}`.trimEnd();
}

const typesOf = (actions: readonly { readonly type: string }[]): string =>
  actions.map(({ type }) => type).join("+");

interface Change {
  readonly kind: { readonly type: string; readonly move_path?: string | null };
}

const kindsOf = (changes: readonly Change[]): string =>
  changes.map(({ kind }) => (kind.move_path ? `${kind.type}-move` : kind.type)).join("+");
