import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { afterWorking, PATIENCE_MS } from "../support/patience.ts";

interface Message {
  readonly id?: number;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came.
  readonly params?: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  readonly result?: any;
  readonly error?: unknown;
}

/** An editor's side of the Agent Client Protocol: JSON-RPC, a line each, on the agent's stdin and stdout. */
export class AcpClient {
  readonly told: Message[] = [];
  readonly #agent: ChildProcessWithoutNullStreams;
  readonly #waiting = new Set<() => void>();
  #errors = "";
  #gone = false;
  #lastId = 0;

  constructor(script: string, env: Readonly<Record<string, string | undefined>>, cwd: string) {
    this.#agent = spawn(process.execPath, [script], { env, cwd });
    this.#agent.stderr.setEncoding("utf8").on("data", (text: string) => (this.#errors += text));
    this.#agent.once("close", () => {
      this.#gone = true;
      this.#wake();
    });
    let rest = "";
    this.#agent.stdout.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      this.told.push(...lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Message));
      this.#wake();
    });
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above.
  async call(method: string, params: object): Promise<any> {
    const id = ++this.#lastId;
    this.#send({ id, method, params });
    const reply = await this.waitFor((message) => message.method === undefined && message.id === id, method);
    if (reply.error !== undefined)
      throw new Error(`${method}: ${JSON.stringify(reply.error)}\n${this.#errors}`);
    return reply.result;
  }

  notify(method: string, params: object): void {
    this.#send({ method, params });
  }

  /** Answers a request of the agent. */
  answer(id: number | undefined, result: object): void {
    this.#send({ id, result });
  }

  /** What the agent has said since the message at `from`, put together. */
  text(from = 0): string {
    const updates = this.told.slice(from).filter(({ method }) => method === "session/update");
    return updates
      .map(({ params }) => params.update)
      .filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk")
      .map(({ content }) => content.text)
      .join("");
  }

  /** The first message that fits, of those that came or are to come. */
  waitFor(fits: (message: Message) => boolean, what: string): Promise<Message> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = this.told.find(fits);
        if (found !== undefined) done(() => resolve(found));
        else if (this.#gone) done(() => reject(new Error(`the agent ended before ${what}: ${this.#errors}`)));
      };
      const cancel = afterWorking(PATIENCE_MS, () =>
        done(() => reject(new Error(`no ${what} in ${PATIENCE_MS} ms: ${this.#errors}`))),
      );
      const done = (settle: () => void): void => {
        cancel();
        this.#waiting.delete(look);
        settle();
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** Hangs up, as an editor does, and waits until the agent has gone too. */
  async close(): Promise<void> {
    if (this.#gone) return;
    const gone = new Promise((resolve) => this.#agent.once("close", resolve));
    this.#agent.stdin.end();
    const cancel = afterWorking(5_000, () => this.#agent.kill("SIGKILL"));
    await gone;
    cancel();
  }

  #send(message: object): void {
    this.#agent.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  #wake(): void {
    for (const look of [...this.#waiting]) look();
  }
}
