import { openSync } from "node:fs";
import { createInterface, type Interface } from "node:readline";
import { ReadStream } from "node:tty";
import type { Approval } from "./exec-approval.ts";
import { harmless, type Output } from "./terminal.ts";

/** What was typed before a question is shown does not answer it. */
const TYPED_AHEAD_MS = 50;

/** Somebody at a terminal, who is asked one thing at a time. */
export class TerminalPerson {
  readonly #output: Output;
  readonly #open: () => ReadStream;
  #input: { readonly stream: ReadStream; readonly lines: Interface } | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #gone = false;

  private constructor(output: Output, open: () => ReadStream) {
    this.#output = output;
    this.#open = open;
  }

  /** Undefined if nobody would see a question. Where stdin is a pipe, answers are read from the terminal itself. */
  static at(stdin: NodeJS.ReadStream, output: Output): TerminalPerson | undefined {
    if (!output.isTerminal) return undefined;
    if (stdin.isTTY) return new TerminalPerson(output, () => stdin);
    try {
      const descriptor = openSync("/dev/tty", "r");
      return new TerminalPerson(output, () => new ReadStream(descriptor));
    } catch {
      return undefined;
    }
  }

  /** The answer that was chosen; undefined if nobody is there any more, or the question was withdrawn. */
  approve<T>(approval: Approval<T>, signal: AbortSignal): Promise<T | undefined> {
    const { question, details, choices } = approval;
    return this.#inTurn(async () => {
      this.#show(question, details);
      for (const { key, says } of choices) this.#output.line(`  [${key}] ${harmless(says)}`);
      for (;;) {
        const typed = await this.#line(signal);
        if (typed === undefined) return undefined;
        const chosen = choices.find(({ key }) => key === typed.toLowerCase().slice(0, 1));
        if (chosen !== undefined) return chosen.answer;
        this.#output.line(`Type one of ${choices.map(({ key }) => key).join(", ")}.`);
      }
    });
  }

  /** One of the options, by its number, or whatever is typed; undefined as above, and for an empty line. */
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
    this.#input?.lines.close();
    this.#input?.stream.destroy();
  }

  #inTurn<T>(ask: () => Promise<T>): Promise<T> {
    const asked = this.#last.then(ask);
    this.#last = asked.catch(() => {});
    return asked;
  }

  #show(question: string, details: readonly string[]): void {
    this.#output.line("");
    this.#output.line(this.#output.bold(harmless(question)));
    for (const line of details.flatMap((detail) => detail.split("\n")))
      this.#output.line(`  ${harmless(line)}`);
  }

  async #line(signal: AbortSignal): Promise<string | undefined> {
    if (signal.aborted || this.#gone) return undefined;
    const { lines, stream } = this.#opened();
    stream.resume();
    await new Promise((resolve) => setTimeout(resolve, TYPED_AHEAD_MS));
    this.#output.write("> ");
    const typed = await new Promise<string | undefined>((resolve) => {
      const end = (line?: string): void => {
        lines.off("line", end);
        lines.off("close", gone);
        signal.removeEventListener("abort", withdrawn);
        resolve(line);
      };
      const gone = (): void => {
        this.#gone = true;
        end();
      };
      const withdrawn = (): void => end();
      if (signal.aborted) return resolve(undefined);
      lines.on("line", end);
      lines.on("close", gone);
      signal.addEventListener("abort", withdrawn, { once: true });
    });
    stream.pause();
    if (typed === undefined) this.#output.line("");
    return typed?.trim();
  }

  #opened(): { readonly stream: ReadStream; readonly lines: Interface } {
    if (this.#input === undefined) {
      const stream = this.#open();
      this.#input = { stream, lines: createInterface({ input: stream, terminal: false }) };
    }
    return this.#input;
  }
}
