import type { ThreadItem, TimelineSpan, TokenUsageBreakdown, TurnStatus } from "@bobbin/protocol";
import type { Commit, ThreadRecord } from "../core/records.ts";
import type { RequestAnswer } from "../core/requests/records.ts";
import { recordTime } from "./journal-entry-fields.ts";

/** A span without its cost. */
export type Span = { -readonly [F in keyof Omit<TimelineSpan, "costUsdMicros">]: TimelineSpan[F] };

const MAX_LABEL = 300;
const MAX_PROBLEM = 1000;
/** Limit on the spans of a turn. Beyond it, the oldest spans that did not fail are left out. */
const MAX_SPANS = 1000;

/** Collects the spans of a turn, that is, how the turn spent its time, from commits. */
export class TimelineCollector {
  readonly turnId: string;
  startedAtMs = 0;
  completedAtMs: number | null = null;
  status: TurnStatus = "inProgress";
  omitted = 0;
  readonly spans: Span[] = [];
  /** Tokens of all calls, by model, including calls whose spans are left out. */
  readonly usage: { readonly model: string | null; readonly usage: TokenUsageBreakdown }[] = [];
  /** The model of the next call. */
  #model: string | null;
  /** The running model call. */
  #call: Span | undefined;
  #calls = 0;
  /** Spans that run, by their ids. */
  readonly #running = new Map<string, Span>();
  readonly #tools = new Map<string, Span>();
  #now = 0;

  constructor(turnId: string, model: string | null) {
    this.turnId = turnId;
    this.#model = model;
  }

  get isEnded(): boolean {
    return this.completedAtMs !== null;
  }

  take({ records }: Pick<Commit, "records">): void {
    for (const [nth, record] of records.entries()) {
      const next = recordTime(record) ?? (nth === 0 ? firstTime(records) : undefined);
      this.#now = next ?? this.#now;
      if (!this.isEnded) this.#take(record);
    }
  }

  #take(record: ThreadRecord): void {
    switch (record.type) {
      case "turnStarted":
        if (record.turnId === this.turnId) this.startedAtMs = record.at;
        return;
      case "turnEnded":
        if (record.turnId === this.turnId) this.#endAll(record.at, record.status, record.error?.message);
        return;
      case "settingsChanged":
        this.#model = record.settings.model;
        return;
      case "turnSettingsChanged":
        this.#model = record.changes.model ?? this.#model;
        return;
      case "modelRerouted":
        if (this.#call !== undefined) this.#call.model = record.to;
        return;
      case "sampleRequested":
        this.#startCall("Model");
        return;
      case "compactionRequested":
        this.#startCall("Summary of the conversation");
        return;
      case "retrying": {
        // The previous call has failed. The call that was just requested waits for its retry delay.
        const failed = this.spans.findLast((span) => span.kind === "model" && span !== this.#call);
        if (failed !== undefined) fail(failed, record.error.message);
        const waiting = this.#start("wait", `retry-${this.#calls}`, `Retry ${record.retry} of ${record.of}`);
        end(waiting, record.until);
        this.#running.delete(waiting.id);
        if (this.#call !== undefined) this.#call.startedAtMs = record.until;
        return;
      }
      case "sampleLost":
        this.#endCall("The answer broke off.");
        return;
      case "usageReported":
        this.#endCall(undefined, record.usage.last);
        return;
      case "compacted":
        this.#endCall(undefined, record.spent);
        return;
      case "compactionFailed":
        this.#endCall(record.error.message);
        return;
      case "serverSampled": {
        const span = this.#start("model", `sampled-${this.spans.length}`, `Model, for ${record.server}`);
        this.#end(span.id);
        this.#spend(span, record.spent);
        return;
      }
      case "toolCalled": {
        const { callId, name, namespace } = record.call;
        const label = namespace === null ? name : `${namespace}.${name}`;
        this.#tools.set(callId, this.#start("tool", `tool-${callId}`, label));
        return;
      }
      case "toolDispatched": {
        const span = this.#running.get(`tool-${record.callId}`);
        // The span starts again here: before it was dispatched, the call waited for an approval or for hooks.
        if (span !== undefined) span.startedAtMs = record.at;
        return;
      }
      case "toolWaiting": {
        const tool = this.#tools.get(record.callId);
        this.#start("wait", `wait-${record.callId}`, `Waiting for ${tool?.label ?? "a result"}`);
        return;
      }
      case "toolAnswered":
        this.#end(`wait-${record.callId}`);
        this.#end(`tool-${record.callId}`, record.success ? undefined : outputText(record.output));
        return;
      case "callCancelled":
        this.#end(`wait-${record.callId}`);
        this.#end(`tool-${record.callId}`, "The call was cancelled.");
        return;
      case "callDeferred":
        this.#end(`wait-${record.call.callId}`);
        this.#end(`tool-${record.call.callId}`);
        return;
      case "requestSent":
        this.#start("question", `question-${record.request.id}`, questionLabel(record.request.method));
        return;
      case "requestResolved":
        this.#end(`question-${record.requestId}`, questionProblem(record.answer));
        return;
      case "reviewStarted":
        this.#start("question", `review-${record.reviewId}`, "Review of an approval by a model");
        return;
      case "reviewEnded": {
        const span = this.#running.get(`review-${record.reviewId}`);
        this.#end(`review-${record.reviewId}`, record.review.status === "denied" ? "Denied." : undefined);
        if (record.usage !== null) this.#spend(span, record.usage);
        return;
      }
      case "hooksStarted":
        for (const { id, eventName } of record.runs) this.#start("hook", `hook-${id}`, `Hook: ${eventName}`);
        return;
      case "hooksEnded":
        for (const { id, status, statusMessage } of record.runs)
          this.#end(
            `hook-${id}`,
            status === "failed" ? (statusMessage ?? "The hook has failed.") : undefined,
          );
        return;
      case "itemStarted":
        if (record.turnId === this.turnId) this.#itemStarted(record.item);
        return;
      case "itemCompleted":
        if (record.turnId === this.turnId) this.#itemCompleted(record.item);
        return;
      default:
        return;
    }
  }

  #itemStarted(item: ThreadItem): void {
    const tool = this.#tools.get(item.id);
    const label = itemLabel(item);
    if (label === undefined) return;
    if (tool !== undefined) tool.label = label.slice(0, MAX_LABEL);
    else this.#start(isMessage(item) ? "message" : "tool", `item-${item.id}`, label);
  }

  #itemCompleted(item: ThreadItem): void {
    const problem = itemProblem(item);
    const tool = this.#tools.get(item.id);
    if (tool === undefined) this.#end(`item-${item.id}`, problem);
    else if (problem !== undefined) fail(tool, problem);
  }

  #startCall(label: string): void {
    this.#endCall("The call gave no answer.");
    this.#calls++;
    this.#call = this.#start("model", `model-${this.#calls}`, label);
    this.#call.model = this.#model;
  }

  #endCall(problem: string | undefined, usage?: TokenUsageBreakdown): void {
    const call = this.#call;
    if (call === undefined) return;
    this.#call = undefined;
    this.#end(call.id, problem);
    if (usage !== undefined) this.#spend(call, usage);
  }

  #spend(span: Span | undefined, usage: TokenUsageBreakdown): void {
    const model = span?.model ?? null;
    if (span !== undefined) span.usage = usage;
    this.usage.push({ model, usage });
  }

  #start(kind: Span["kind"], id: string, label: string): Span {
    const span: Span = {
      id,
      kind,
      label: label.slice(0, MAX_LABEL),
      model: null,
      problem: null,
      startedAtMs: this.#now,
      endedAtMs: null,
      status: "inProgress",
      usage: null,
    };
    this.spans.push(span);
    this.#running.set(id, span);
    if (this.spans.length > MAX_SPANS) this.#leaveOutOldest();
    return span;
  }

  #end(id: string, problem?: string): void {
    const span = this.#running.get(id);
    if (span === undefined) return;
    this.#running.delete(id);
    end(span, this.#now);
    if (problem !== undefined) fail(span, problem);
  }

  #endAll(at: number, status: Exclude<TurnStatus, "inProgress">, problem: string | undefined): void {
    this.#now = at;
    this.completedAtMs = at;
    this.status = status;
    for (const span of this.#running.values()) {
      end(span, at);
      if (status === "failed" && span === this.#call) fail(span, problem ?? "The turn has failed.");
      else if (status !== "completed") span.status = "interrupted";
    }
    this.#running.clear();
    this.#call = undefined;
  }

  #leaveOutOldest(): void {
    const oldest = this.spans.findIndex(({ status }) => status === "completed");
    this.spans.splice(Math.max(0, oldest), 1);
    this.omitted++;
  }
}

function end(span: Span, at: number): void {
  span.endedAtMs = Math.max(span.startedAtMs, at);
  if (span.status === "inProgress") span.status = "completed";
}

function fail(span: Span, problem: string): void {
  span.status = "failed";
  span.problem = problem.slice(0, MAX_PROBLEM);
}

/** The first time in a commit. It is used for earlier records of the commit without a time. */
function firstTime(records: readonly ThreadRecord[]): number | undefined {
  for (const record of records) {
    const at = recordTime(record);
    if (at !== undefined) return at;
  }
  return undefined;
}

function isMessage({ type }: ThreadItem): boolean {
  return type === "agentMessage" || type === "reasoning" || type === "plan";
}

/** The label of an item's span; undefined for items that take no time. */
function itemLabel(item: ThreadItem): string | undefined {
  switch (item.type) {
    case "agentMessage":
      return "Answer";
    case "reasoning":
      return "Thinking";
    case "plan":
      return "Plan";
    case "commandExecution":
      return item.command;
    case "fileChange":
      return `Change ${item.changes.map(({ path }) => path).join(", ")}`;
    case "mcpToolCall":
      return `${item.server} · ${item.tool}`;
    case "dynamicToolCall":
      return item.tool;
    case "collabAgentToolCall":
      return `Helpers: ${item.tool}`;
    case "webSearch":
      return `Web search: ${item.query}`;
    default:
      return undefined;
  }
}

function itemProblem(item: ThreadItem): string | undefined {
  if (item.type === "commandExecution") {
    if (item.status === "declined") return "Declined.";
    if ((item.exitCode ?? 0) !== 0) return `Exit code ${item.exitCode}.`;
  }
  if (item.type === "mcpToolCall" && item.error != null) return item.error.message;
  return "status" in item && item.status === "failed" ? "It has failed." : undefined;
}

const QUESTIONS: Readonly<Record<string, string>> = {
  "item/commandExecution/requestApproval": "Approval of a command",
  "item/fileChange/requestApproval": "Approval of a file change",
  "item/permissions/requestApproval": "Request for permissions",
  "item/tool/requestUserInput": "Question to the user",
  "item/tool/call": "Call of a client's tool",
  "mcpServer/elicitation/request": "Form of an MCP server",
};

function questionLabel(method: string): string {
  return QUESTIONS[method] ?? method;
}

function questionProblem(answer: RequestAnswer): string | undefined {
  switch (answer.kind) {
    case "result":
    case "cleared":
      return undefined;
    case "failed":
      return answer.message;
    case "expired":
      return "No client has answered in time.";
    case "denied":
      return answer.words;
  }
}

function outputText(output: Extract<ThreadRecord, { type: "toolAnswered" }>["output"]): string {
  if (typeof output === "string") return output;
  const text = output.flatMap((part) => ("text" in part ? [part.text] : [])).join("\n");
  return text === "" ? "It has failed." : text;
}
