import type { Notification } from "@bobbin/client";
import type { ThreadItem, TokenUsageBreakdown } from "@bobbin/protocol";
import { diffLines } from "./exec-approval-choices.ts";
import type { Decision } from "./exec-question-answers.ts";
import { type ExecReport, turnProblem } from "./exec-report.ts";
import { itemEnd, itemStart } from "./item-lines.ts";
import { escapeControls, type Output } from "./terminal-output.ts";

/** Reports a turn as text: the answer is streamed to stdout, everything else goes to stderr. */
export class TextReport implements ExecReport {
  readonly #answer: Output;
  readonly #messages: Output;
  /** The text already printed of messages that are still being streamed, by item id. */
  readonly #shown = new Map<string, string>();
  #lineIsOpen = false;
  #saidSomething = false;
  #usage: TokenUsageBreakdown | undefined;
  readonly #diffs: boolean;
  readonly #sessionLine: boolean;
  /**
   * File changes in progress. True if the user was asked something since the start of the change, and so has seen the
   * diff.
   */
  readonly #changes = new Map<string, boolean>();

  /**
   * `diffs`: shows the diffs of file changes that the user was not asked about. `sessionLine`: names the thread in the
   * words of `codex exec`, too, if the messages do not go to a terminal.
   */
  constructor(
    answer: Output,
    messages: Output,
    { diffs = false, sessionLine = false }: { readonly diffs?: boolean; readonly sessionLine?: boolean } = {},
  ) {
    this.#answer = answer;
    this.#messages = messages;
    this.#diffs = diffs;
    this.#sessionLine = sessionLine;
  }

  started({ id, model, cwd }: { readonly id: string; readonly model: string; readonly cwd: string }): void {
    this.#note(`model ${model} · folder ${cwd} · thread ${id}`);
    if (this.#messages.isTerminal) this.#messages.line("");
    // Programs that run `codex exec` look for this line.
    else if (this.#sessionLine) this.#note(`session id: ${id}`);
  }

  /** Shows the text so far of a message that is being streamed. Later deltas are appended to it. */
  running(itemId: string, text: string): void {
    this.#say(itemId, text);
  }

  failed(message: string): void {
    this.#endLine();
    this.#messages.line(this.#messages.red(`bobbin: ${escapeControls(message)}`));
  }

  notification({ method, params }: Notification): void {
    switch (method) {
      case "item/agentMessage/delta":
        return this.#say(params.itemId, params.delta);
      case "item/started": {
        if (params.item.type === "fileChange") this.#changes.set(params.item.id, false);
        const note = itemStart(params.item);
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
        // The last error is printed at the end of the turn.
        return params.willRetry ? this.#note(`trying again: ${turnProblem(params.error)}`) : undefined;
      case "turn/completed":
        this.#endLine();
        if (params.turn.status === "failed") this.failed(turnProblem(params.turn.error));
        if (params.turn.status === "interrupted") this.#note("interrupted");
        return this.#tellUsage();
    }
  }

  helper(line: string): void {
    this.#note(line);
  }

  asking(): void {
    this.#endLine();
    for (const id of this.#changes.keys()) this.#changes.set(id, true);
  }

  decided({ kind, question, answer, change }: Decision): void {
    this.#endLine();
    const outcome = kind === "authorization" ? question : `${question} → ${answer ?? "not answered"}`;
    const text = change === null ? outcome : `${outcome}\n  ${change}`;
    this.#messages.line(this.#messages.yellow(escapeControls(text)));
  }

  #itemCompleted(item: ThreadItem): void {
    if (item.type === "agentMessage") {
      // Some deltas may not have arrived. The rest of the text is printed now.
      const shown = this.#shown.get(item.id) ?? "";
      if (item.text.startsWith(shown)) this.#say(item.id, item.text.slice(shown.length));
      this.#shown.delete(item.id);
      this.#endLine();
    }
    const note = itemEnd(item);
    if (note !== undefined) this.#note(note);
    if (item.type === "fileChange") {
      if (this.#diffs && item.status === "completed" && this.#changes.get(item.id) !== true)
        this.#showDiff(item);
      this.#changes.delete(item.id);
    }
  }

  #showDiff({ changes }: Extract<ThreadItem, { type: "fileChange" }>): void {
    for (const line of diffLines(changes)) {
      const text = `  ${escapeControls(line)}`;
      const isAdded = line.startsWith("+");
      this.#messages.line(
        isAdded
          ? this.#messages.green(text)
          : line.startsWith("-")
            ? this.#messages.red(text)
            : this.#messages.dim(text),
      );
    }
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
    this.#answer.write(this.#answer.isTerminal ? escapeControls(text) : text);
    this.#lineIsOpen = !text.endsWith("\n");
    this.#saidSomething = true;
  }

  #endLine(): void {
    if (this.#lineIsOpen) this.#answer.line("");
    this.#lineIsOpen = false;
  }

  #note(text: string): void {
    this.#endLine();
    this.#messages.line(this.#messages.dim(escapeControls(text)));
  }

  #tellUsage(): void {
    if (this.#usage === undefined) return;
    const { inputTokens, cachedInputTokens, outputTokens } = this.#usage;
    const cached = cachedInputTokens > 0 ? ` (${cachedInputTokens} cached)` : "";
    if (this.#messages.isTerminal) this.#messages.line("");
    this.#note(`tokens: ${inputTokens} in${cached}, ${outputTokens} out`);
  }
}

const PLAN_MARKS = { pending: "○", inProgress: "◐", completed: "●" } as const;
