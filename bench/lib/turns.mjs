// Runs turns on a server under test. One listener serves all turns, so that a hundred concurrent ones cost the client
// little time.
import { within } from "./server-process.mjs";

const input = [{ type: "text", text: "Say a few words.", text_elements: [] }];

export class Turns {
  /** @type {Map<string, (ended: { turn: any, at: number }) => void>} */
  #waiting = new Map();
  /** @type {import("./server-process.mjs").StdioServer} */
  #server;
  /** Number of received deltas, and of their characters. */
  deltas = 0;
  characters = 0;

  /** @param {import("./server-process.mjs").StdioServer} server */
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
   * Runs a turn. Resolves with the time from `turn/start` to `turn/completed`, in milliseconds.
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
   * Starts a thread and runs turns in it, one after the other. Resolves with their durations.
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
