import type { Notification } from "@bobbin/client";
import type { ThreadItem, TokenUsageBreakdown } from "@bobbin/protocol";
import type { Decision } from "./exec-questions.ts";
import { type ExecReport, turnProblem } from "./exec-report.ts";
import { harmless, type Output } from "./terminal.ts";

/** The turn for a person: the answer on stdout as it comes, everything else on stderr. */
export class TextReport implements ExecReport {
  readonly #answer: Output;
  readonly #aside: Output;
  /** What was shown of messages that are still coming. */
  readonly #shown = new Map<string, string>();
  #lineIsOpen = false;
  #saidSomething = false;
  #usage: TokenUsageBreakdown | undefined;

  constructor(answer: Output, aside: Output) {
    this.#answer = answer;
    this.#aside = aside;
  }

  started({ id, model, cwd }: { readonly id: string; readonly model: string; readonly cwd: string }): void {
    this.#note(`model ${model} · folder ${cwd} · thread ${id}`);
    if (this.#aside.isTerminal) this.#aside.line("");
  }

  failed(message: string): void {
    this.#endLine();
    this.#aside.line(this.#aside.red(`bobbin: ${harmless(message)}`));
  }

  notification({ method, params }: Notification): void {
    switch (method) {
      case "item/agentMessage/delta":
        return this.#say(params.itemId, params.delta);
      case "item/started": {
        const note = atStart(params.item);
        return note === undefined ? undefined : this.#note(note);
      }
      case "item/completed":
        return this.#itemCompleted(params.item);
      case "turn/plan/updated":
        for (const { step, status } of params.plan) this.#note(`${PLAN_MARKS[status]} ${step}`);
        return;
      case "thread/tokenUsage/updated":
        this.#usage = params.tokenUsage.total;
        return;
      case "warning":
        return this.#note(`warning: ${params.message}`);
      case "guardianWarning":
        return this.#note(params.message);
      case "configWarning":
      case "deprecationNotice":
        return this.#note(`warning: ${params.summary}`);
      case "error":
        // The last one is told with the turn's end.
        return params.willRetry ? this.#note(`trying again: ${turnProblem(params.error)}`) : undefined;
      case "turn/completed":
        this.#endLine();
        if (params.turn.status === "failed") this.failed(turnProblem(params.turn.error));
        if (params.turn.status === "interrupted") this.#note("interrupted");
        return this.#tellUsage();
    }
  }

  asking(): void {
    this.#endLine();
  }

  decided({ kind, question, answer, change }: Decision): void {
    this.#endLine();
    const outcome = kind === "authorization" ? question : `${question} → ${answer ?? "not answered"}`;
    const text = change === null ? outcome : `${outcome}\n  ${change}`;
    this.#aside.line(this.#aside.yellow(harmless(text)));
  }

  #itemCompleted(item: ThreadItem): void {
    if (item.type === "agentMessage") {
      // Deltas are live only: whatever did not come that way is shown now.
      const shown = this.#shown.get(item.id) ?? "";
      if (item.text.startsWith(shown)) this.#say(item.id, item.text.slice(shown.length));
      this.#shown.delete(item.id);
      this.#endLine();
    }
    const note = atEnd(item);
    if (note !== undefined) this.#note(note);
  }

  #say(itemId: string, text: string): void {
    if (text === "") return;
    const before = this.#shown.get(itemId);
    if (before === undefined) {
      this.#endLine();
      // A blank line between two messages.
      if (this.#saidSomething) this.#answer.line("");
    }
    this.#shown.set(itemId, (before ?? "") + text);
    this.#answer.write(this.#answer.isTerminal ? harmless(text) : text);
    this.#lineIsOpen = !text.endsWith("\n");
    this.#saidSomething = true;
  }

  #endLine(): void {
    if (this.#lineIsOpen) this.#answer.line("");
    this.#lineIsOpen = false;
  }

  #note(text: string): void {
    this.#endLine();
    this.#aside.line(this.#aside.dim(harmless(text)));
  }

  #tellUsage(): void {
    if (this.#usage === undefined) return;
    const { inputTokens, cachedInputTokens, outputTokens } = this.#usage;
    const cached = cachedInputTokens > 0 ? ` (${cachedInputTokens} cached)` : "";
    if (this.#aside.isTerminal) this.#aside.line("");
    this.#note(`tokens: ${inputTokens} in${cached}, ${outputTokens} out`);
  }
}

const PLAN_MARKS = { pending: "○", inProgress: "◐", completed: "●" } as const;

function atStart(item: ThreadItem): string | undefined {
  switch (item.type) {
    case "commandExecution":
      return `$ ${item.command}`;
    case "mcpToolCall":
      return `calling ${item.server}.${item.tool}`;
    case "dynamicToolCall":
      return `calling ${item.tool}`;
    default:
      return undefined;
  }
}

function atEnd(item: ThreadItem): string | undefined {
  switch (item.type) {
    case "reasoning":
      return item.summary.join("\n").trim() || undefined;
    case "commandExecution":
      return commandEnd(item);
    case "fileChange":
      return `${item.status}: ${item.changes.map(({ kind, path }) => `${kind.type} ${path}`).join(", ")}`;
    case "mcpToolCall":
      return item.error ? `${item.server}.${item.tool} failed: ${item.error.message}` : undefined;
    case "webSearch":
      return `searched the web for ${item.query}`;
    default:
      return undefined;
  }
}

/** More lines of a command's output are cut out of the middle. */
const OUTPUT_LINES = 20;

function commandEnd({
  status,
  exitCode,
  aggregatedOutput,
}: Extract<ThreadItem, { type: "commandExecution" }>): string | undefined {
  if (status === "declined") return "declined";
  const lines = (aggregatedOutput ?? "").trimEnd().split("\n");
  const left = lines.length - OUTPUT_LINES;
  const half = OUTPUT_LINES / 2;
  const shown = left > 0 ? [...lines.slice(0, half), `… ${left} more lines`, ...lines.slice(-half)] : lines;
  const output = shown.join("\n");
  return (
    [...(output === "" ? [] : [output]), ...(exitCode ? [`exit code ${exitCode}`] : [])].join("\n") ||
    undefined
  );
}
