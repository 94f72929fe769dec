import type { Writable } from "node:stream";

/** What we need of process.stdout and process.stderr. */
export type OutputStream = Writable & {
  readonly isTTY?: boolean;
  hasColors?(): boolean;
};

/** One of the program's outputs. A reader that left (`| head`) is no fault: what follows is dropped. */
export class Output {
  readonly isTerminal: boolean;
  readonly #stream: OutputStream;
  readonly #colors: boolean;
  #failure: Error | undefined;

  constructor(stream: OutputStream) {
    this.#stream = stream;
    this.isTerminal = stream.isTTY ?? false;
    // Knows of NO_COLOR, FORCE_COLOR and TERM.
    this.#colors = this.isTerminal && (stream.hasColors?.() ?? false);
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE" && error.code !== "ERR_STREAM_DESTROYED") this.#failure ??= error;
    });
  }

  /** Why something could not be written, other than that nobody reads. */
  get failure(): Error | undefined {
    return this.#failure;
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

  /** Everything written so far has left the process, or never will. */
  async flushed(): Promise<void> {
    if (this.#stream.writable) await new Promise((resolve) => this.#stream.write("", resolve));
  }

  #color(code: number, text: string): string {
    return this.#colors ? `\x1b[${code}m${text}\x1b[0m` : text;
  }
}

/** For what others wrote, on a terminal: escape sequences are shown, not obeyed. */
export function harmless(text: string): string {
  return text.replace(/\p{Cc}/gu, (control) => {
    if (control === "\n" || control === "\t") return control;
    if (control === "\r") return "";
    const code = control.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : "\ufffd";
  });
}
