import type { Writable } from "node:stream";
import { cutToWidth } from "./text-width.ts";

/** The members of process.stdout and process.stderr that are used here. */
export type OutputStream = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  hasColors?(): boolean;
};

/** When to use colors; `auto`: if the output is a terminal that has them. */
export type ColorChoice = "always" | "never" | "auto";

/** The width of a terminal that does not report one. */
const DEFAULT_COLUMNS = 80;

/** Writes to stdout or stderr. If the reader has closed the pipe (`| head`), further output is dropped without an error. */
export class Output {
  readonly isTerminal: boolean;
  readonly #stream: OutputStream;
  readonly #colors: boolean;
  #failure: Error | undefined;

  constructor(stream: OutputStream, color: ColorChoice = "auto") {
    this.#stream = stream;
    this.isTerminal = stream.isTTY ?? false;
    // `hasColors` respects NO_COLOR, FORCE_COLOR and TERM.
    this.#colors = color === "auto" ? this.isTerminal && (stream.hasColors?.() ?? false) : color === "always";
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE" && error.code !== "ERR_STREAM_DESTROYED") this.#failure ??= error;
    });
  }

  /** The first write error, except a closed pipe. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Whether the reader has closed the pipe, so that nobody reads the output any more. */
  get isClosed(): boolean {
    return !this.#stream.writable;
  }

  /** The width for a line that is overwritten repeatedly; 0 if the output does not support that. */
  get columns(): number {
    if (!this.isTerminal || process.env["TERM"] === "dumb") return 0;
    return this.#stream.columns || DEFAULT_COLUMNS;
  }

  write(text: string): void {
    if (text !== "" && this.#stream.writable) this.#stream.write(text);
  }

  line(text: string): void {
    this.write(`${text}\n`);
  }

  dim(text: string): string {
    return this.#color(2, text);
  }
  bold(text: string): string {
    return this.#color(1, text);
  }
  red(text: string): string {
    return this.#color(31, text);
  }
  green(text: string): string {
    return this.#color(32, text);
  }
  yellow(text: string): string {
    return this.#color(33, text);
  }

  /** Resolves when everything written so far was flushed, or when the stream can no longer be written to. */
  async flushed(): Promise<void> {
    if (this.#stream.writable) await new Promise((resolve) => this.#stream.write("", resolve));
  }

  #color(code: number, text: string): string {
    return this.#colors ? `\x1b[${code}m${text}\x1b[0m` : text;
  }
}

/** Characters that change the direction of the text around them, so that a text looks different from what it is. */
const BIDI_CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Replaces control characters by visible ones, so that text from models and servers cannot send escape sequences. */
export function escapeControls(text: string): string {
  // A carriage return at the end of a line does nothing. Elsewhere it would hide the line before it.
  const lines = text.replaceAll("\r\n", "\n");
  return lines.replace(BIDI_CONTROLS, "\ufffd").replace(/\p{Cc}/gu, (control) => {
    if (control === "\n" || control === "\t") return control;
    const code = control.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : "\ufffd";
  });
}

/** The text on one line, escaped, and cut to a number of columns; 0 for no limit. */
export function oneLine(text: string, columns = 0): string {
  const line = escapeControls(text.replace(/\s+/gu, " ").trim());
  return columns > 0 ? cutToWidth(line, columns) : line;
}
