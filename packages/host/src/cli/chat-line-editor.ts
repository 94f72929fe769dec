import { createInterface } from "node:readline";

/** What the user did: sent a text, or left the chat. `withdrawn`: the prompt was withdrawn before that. */
export type PromptResult =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "leave"; readonly byInterrupt: boolean }
  | { readonly kind: "withdrawn" };

/** Limit on the lines that the arrow keys bring back. */
const HISTORY_LINES = 500;

/**
 * The prompt of a chat on a terminal, with line editing and history. It reads the terminal only while it waits for
 * input, so that questions of a turn can be answered in between.
 */
export class ChatLineEditor {
  readonly #input: NodeJS.ReadStream;
  readonly #output: NodeJS.WriteStream;
  /** The latest line first, as readline expects it. */
  #history: string[];
  /** The text that the user had typed when the prompt was withdrawn. */
  #draft = "";
  /** Set while the prompt waits for input. */
  #withdraw: (() => void) | undefined;

  /** `earlier` are the messages of the thread, the oldest first. */
  constructor(input: NodeJS.ReadStream, output: NodeJS.WriteStream, earlier: readonly string[]) {
    this.#input = input;
    this.#output = output;
    this.#history = earlier
      .flatMap((message) => message.split("\n"))
      .filter((line) => line.trim() !== "")
      .reverse();
  }

  /**
   * Ends the prompt's line at once, so that something else can be shown. The typed text appears again at the next
   * prompt.
   */
  withdraw(): void {
    this.#withdraw?.();
  }

  /** Resolves when the user has sent a message or leaves, or when the prompt is withdrawn. */
  async read(): Promise<PromptResult> {
    if (this.#input.readableEnded) return { kind: "leave", byInterrupt: false };
    const lines = createInterface({
      input: this.#input,
      output: this.#output,
      terminal: true,
      prompt: "> ",
      history: this.#history.slice(0, HISTORY_LINES),
      historySize: HISTORY_LINES,
      removeHistoryDuplicates: true,
    });
    lines.on("history", (history) => {
      this.#history = [...history];
    });
    const draft = this.#draft;
    this.#draft = "";
    let arrived: string[] = [];
    const message: string[] = [];
    let wantsToLeave = false;
    const typed = await new Promise<PromptResult>((resolve) => {
      const take = (): void => {
        const pasted = arrived.length > 1;
        const isLast = !pasted && !arrived[0]!.endsWith("\\");
        message.push(...arrived.map((line) => (pasted || isLast ? line : line.slice(0, -1))));
        arrived = [];
        if (isLast) return resolve({ kind: "text", text: message.join("\n") });
        lines.setPrompt("… ");
        lines.prompt(true);
      };
      lines.on("line", (line) => {
        wantsToLeave = false;
        // Lines of a paste arrive together. They become one message, which the next Enter sends.
        if (arrived.push(line) === 1) setImmediate(() => this.#withdraw && take());
      });
      lines.on("SIGINT", () => {
        const isEmpty = lines.line === "" && message.length === 0;
        if (isEmpty && wantsToLeave) return resolve({ kind: "leave", byInterrupt: true });
        wantsToLeave = isEmpty;
        message.length = 0;
        this.#output.write(isEmpty ? "\nCtrl-C again leaves.\n" : "^C\n");
        lines.setPrompt("> ");
        // Deletes the typed text.
        lines.write(null, { ctrl: true, name: "e" });
        lines.write(null, { ctrl: true, name: "u" });
        lines.prompt();
      });
      lines.on("close", () => resolve({ kind: "leave", byInterrupt: false }));
      this.#withdraw = () => {
        this.#withdraw = undefined;
        this.#draft = [...message, ...arrived, lines.line].join(" ");
        resolve({ kind: "withdrawn" });
        lines.close();
        this.#output.write("\n");
      };
      lines.prompt();
      if (draft !== "") lines.write(draft);
    });
    this.#withdraw = undefined;
    if (typed.kind === "withdrawn") return typed;
    lines.close();
    // The next output begins on a new line.
    if (typed.kind === "leave") this.#output.write("\n");
    return typed;
  }
}
