import type { ThreadState } from "../core/state.ts";
import type { ConfiguredHook } from "../hooks/configured-hooks.ts";
import type { HookQuestion } from "../hooks/thread-hooks.ts";
import type { Actor } from "../thread/actor.ts";
import type { TurnHookPorts } from "./turn-hook-ports.ts";

/** Limit on concurrent asynchronous hooks per thread. Further ones are not run. */
const MAX_CONCURRENT = 8;

const NEVER = new AbortController().signal;

/**
 * Runs hooks with `async = true`. The thread does not wait for these hooks, and they cannot block anything. Context
 * that they return is added before the next model call. They end with their thread.
 */
export class AsyncHooks {
  readonly #actor: Actor;
  readonly #ports: TurnHookPorts;
  #running = 0;

  constructor(actor: Actor, ports: TurnHookPorts) {
    this.#actor = actor;
    this.#ports = ports;
  }

  start(state: ThreadState, hooks: readonly ConfiguredHook[], question: HookQuestion): void {
    for (const hook of hooks) {
      if (this.#running >= MAX_CONCURRENT) {
        this.#warn(
          `A hook was not run, because ${MAX_CONCURRENT} others of this thread run: ${hook.command}`,
        );
        continue;
      }
      this.#running++;
      const run = this.#run(state, hook, question).finally(() => this.#running--);
      this.#ports.supervisor.take("a hook that nobody waits for", run);
    }
  }

  async #run(state: ThreadState, hook: ConfiguredHook, question: HookQuestion): Promise<void> {
    const { verdicts, runs } = await this.#ports.hooks.run(state, [hook], question, NEVER);
    if (this.#actor.gone) return;
    for (const { kind, text } of runs.flatMap(({ entries }) => entries))
      if (kind === "warning") this.#warn(text);
    const items = verdicts.flatMap(({ context }) =>
      context === undefined ? [] : [developerMessage(context)],
    );
    const at = this.#ports.platform.clock.now();
    if (items.length > 0) this.#actor.offer({ kind: "injectItems", at, items });
  }

  #warn(message: string): void {
    this.#actor.tell("warning", { threadId: this.#actor.id, message });
  }
}

function developerMessage(text: string): object {
  return { type: "message", role: "developer", content: [{ type: "input_text", text }] };
}
