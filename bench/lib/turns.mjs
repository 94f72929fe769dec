// Turns on a server under test. One listener serves all of them, so that a hundred at once cost the client little.
import { within } from "./server.mjs";

const input = [{ type: "text", text: "Say a few words.", text_elements: [] }];

export class Turns {
  /** @type {Map<string, (ended: { turn: any, at: number }) => void>} */
  #waiting = new Map();
  /** @type {import("./server.mjs").StdioServer} */
  #server;
  /** Pieces of text that have come, and their characters. */
  deltas = 0;
  characters = 0;

  /** @param {import("./server.mjs").StdioServer} server */
  constructor(server) {
    this.#server = server;
    server.listeners.add(({ method, params }) => {
      if (method === "item/agentMessage/delta") {
        this.deltas += 1;
        this.characters += params.delta.length;
      }
      if (method !== "turn/completed") return;
      this.#waiting.get(params.threadId)?.({ turn: params.turn, at: performance.now() });
    });
  }

  /**
   * From `turn/start` to `turn/completed`, in milliseconds.
   * @param {string} threadId
   * @param {number} [atMostMs]
   */
  async run(threadId, atMostMs = 60_000) {
    const start = performance.now();
    const completed = new Promise((resolve) => this.#waiting.set(threadId, resolve));
    const [{ turn, at }] = await within(
      atMostMs,
      "a turn was not completed",
      Promise.all([completed, this.#server.request("turn/start", { threadId, input }, atMostMs)]),
    );
    if (turn.status !== "completed") throw new Error(`a turn ended ${JSON.stringify(turn).slice(0, 300)}`);
    return at - start;
  }

  /** @param {string} cwd */
  async thread(cwd) {
    const { thread } = await this.#server.request("thread/start", { cwd });
    return /** @type {string} */ (thread.id);
  }

  /**
   * A new thread, and turns in it, one after the other.
   * @param {string} cwd
   * @param {number} turns
   */
  async inNewThread(cwd, turns) {
    const threadId = await this.thread(cwd);
    const times = [];
    for (let i = 0; i < turns; i++) times.push(await this.run(threadId));
    return times;
  }
}
