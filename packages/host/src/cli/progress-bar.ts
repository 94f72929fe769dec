import type { Output } from "./terminal-output.ts";

const WIDTH = 30;
/** The minimum width of the bar. With less room, only the numbers are shown. */
const LEAST_WIDTH = 5;

/** A progress bar in the last line of a terminal. Writes nothing if the output is no terminal. */
export class ProgressBar {
  readonly #output: Output;
  readonly #total: number;
  #done = 0;
  #shown = "";

  constructor(output: Output, total: number) {
    this.#output = output;
    this.#total = total;
    this.#show();
  }

  add(count: number): void {
    this.#done = Math.min(this.#done + count, this.#total);
    this.#show();
  }

  clear(): void {
    if (this.#shown !== "") this.#output.write("\r\x1b[K");
    this.#shown = "";
  }

  #show(): void {
    const text = this.#total === 0 ? "" : this.#text(this.#output.columns);
    if (text === this.#shown || text === "") return;
    this.#shown = text;
    this.#output.write(`\r${text}\x1b[K`);
  }

  /** The bar, cut to the terminal's width, because a wrapped line cannot be overwritten. */
  #text(columns: number): string {
    const count = `${this.#done}/${this.#total}`;
    // The last column stays empty, because some terminals wrap when it is filled.
    const room = columns - 1;
    const width = Math.min(WIDTH, room - count.length - "[] ".length);
    if (width < LEAST_WIDTH) return count.length <= room ? count : "";
    const filled = Math.floor((this.#done / this.#total) * width);
    return `[${"#".repeat(filled)}${".".repeat(width - filled)}] ${count}`;
  }
}
