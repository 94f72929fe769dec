import type { Params, ThreadGoal } from "@bobbin/protocol";
import type { Bobbin } from "./bobbin.ts";

/**
 * The goal that a thread works towards by itself, turn after turn.
 *
 * @example
 * await thread.goal.set({ objective: "All tests pass", tokenBudget: 200_000 });
 * console.log(thread.state.goal?.status);
 */
export class ThreadGoalHandle {
  readonly #bobbin: Bobbin;
  readonly #threadId: string;

  constructor(bobbin: Bobbin, threadId: string) {
    this.#bobbin = bobbin;
    this.#threadId = threadId;
  }

  /**
   * Reads the goal; null if there is none.
   *
   * @example
   * const goal = await thread.goal.get();
   */
  async get(): Promise<ThreadGoal | null> {
    return (await this.#bobbin.request("thread/goal/get", { threadId: this.#threadId })).goal;
  }

  /**
   * Sets or changes the goal.
   *
   * @example
   * await thread.goal.set({ status: "paused" });
   */
  async set(goal: Omit<Params<"thread/goal/set">, "threadId">): Promise<ThreadGoal> {
    return (await this.#bobbin.request("thread/goal/set", { ...goal, threadId: this.#threadId })).goal;
  }

  /**
   * Removes the goal. Returns false if there was none.
   *
   * @example
   * await thread.goal.clear();
   */
  async clear(): Promise<boolean> {
    return (await this.#bobbin.request("thread/goal/clear", { threadId: this.#threadId })).cleared;
  }
}
