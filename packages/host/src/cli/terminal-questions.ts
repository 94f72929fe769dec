import { openSync } from "node:fs";
import { createInterface } from "node:readline";
import { ReadStream } from "node:tty";
import { visibleLine } from "../tool/consent/visible-text.ts";
import type { Approval } from "./exec-approval-choices.ts";
import type { Output } from "./terminal-output.ts";

/** Input that arrives within this time is discarded: it was typed before the question was shown. */
const TYPED_AHEAD_MS = 50;

/** The user at the terminal. Questions are asked one at a time. */
export class TerminalUser {
  readonly #output: Output;
  readonly #open: () => ReadStream;
  #stream: ReadStream | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #hasInputEnded = false;

  private constructor(output: Output, open: () => ReadStream) {
    this.#output = output;
    this.#open = open;
  }

  /** Returns undefined if `output` is no terminal. If stdin is a pipe, answers are read from /dev/tty. */
  static at(stdin: NodeJS.ReadStream, output: Output): TerminalUser | undefined {
    if (!output.isTerminal) return undefined;
    if (stdin.isTTY) return new TerminalUser(output, () => stdin);
    try {
      const descriptor = openSync("/dev/tty", "r");
      return new TerminalUser(output, () => new ReadStream(descriptor));
    } catch {
      return undefined;
    }
  }

  /** Resolves with the chosen answer; undefined if the input has ended, or the signal withdraws the question. */
  approve<T>(approval: Approval<T>, signal: AbortSignal): Promise<T | undefined> {
    const { question, details, choices } = approval;
    return this.#inTurn(async () => {
      this.#show(question, details);
      for (const { key, says } of choices) this.#output.line(`  [${key}] ${visibleLine(says)}`);
      for (;;) {
        const typed = await this.#line(signal);
        if (typed === undefined) return undefined;
        const chosen = choices.find(({ key }) => key === typed.toLowerCase().slice(0, 1));
        if (chosen !== undefined) return chosen.answer;
        this.#output.line(`Type one of ${choices.map(({ key }) => key).join(", ")}.`);
      }
    });
  }

  /**
   * Resolves with the option whose number was typed, or with the typed text. Undefined for an empty line, if the
   * input has ended, or if the signal withdraws the question.
   */
  answer(
    question: string,
    options: readonly { readonly label: string; readonly description: string }[],
    signal: AbortSignal,
  ): Promise<string | undefined> {
    return this.#inTurn(async () => {
      const numbered = options.map(({ label, description }, at) =>
        description === "" ? `[${at + 1}] ${label}` : `[${at + 1}] ${label}: ${description}`,
      );
      this.#show(question, numbered);
      this.#output.line(
        options.length === 0
          ? "  Type your answer, or nothing to leave it open."
          : "  Type a number or an answer of your own, or nothing to leave it open.",
      );
      const typed = await this.#line(signal);
      if (typed === undefined || typed === "") return undefined;
      return /^\d+$/.test(typed) ? (options[Number(typed) - 1]?.label ?? typed) : typed;
    });
  }

  close(): void {
    this.#stream?.destroy();
  }

  #inTurn<T>(ask: () => Promise<T>): Promise<T> {
    const asked = this.#last.then(ask);
    this.#last = asked.catch(() => {});
    return asked;
  }

  #show(question: string, details: readonly string[]): void {
    this.#output.line("");
    // Each text is one line, so that none can pose as another.
    this.#output.line(this.#output.bold(visibleLine(question)));
    for (const line of details) this.#output.line(`  ${line.split("\t").map(visibleLine).join("\t")}`);
  }

  async #line(signal: AbortSignal): Promise<string | undefined> {
    if (signal.aborted || this.#hasInputEnded) return undefined;
    this.#stream ??= this.#open();
    const stream = this.#stream;
    if (stream.readableEnded) return undefined;
    const lines = createInterface({ input: stream, terminal: false });
    lines.once("close", () => {
      this.#hasInputEnded ||= !isAnswered;
    });
    let isAnswered = false;
    stream.resume();
    await new Promise((resolve) => setTimeout(resolve, TYPED_AHEAD_MS));
    if (this.#hasInputEnded) return undefined;
    this.#output.write("> ");
    const typed = await new Promise<string | undefined>((resolve) => {
      const end = (line?: string): void => {
        isAnswered = true;
        lines.off("line", end);
        lines.off("close", inputEnded);
        signal.removeEventListener("abort", withdrawn);
        resolve(line);
      };
      const inputEnded = (): void => end();
      const withdrawn = (): void => end();
      if (signal.aborted) return end();
      lines.on("line", end);
      lines.on("close", inputEnded);
      signal.addEventListener("abort", withdrawn, { once: true });
    });
    // The reader is closed after each question; otherwise it would also consume later input. Closing it pauses the
    // input.
    lines.close();
    if (typed === undefined) this.#output.line("");
    return typed?.trim();
  }
}
