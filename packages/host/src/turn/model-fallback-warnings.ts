import type { ThreadState } from "../core/state.ts";
import { contextWindowOf } from "../model/context-windows.ts";
import { OFFLINE_MODEL } from "../model/model.ts";
import type { Actor } from "../thread/actor.ts";

/**
 * Warns a thread's subscribers, once per turn, that the model is unknown, or that the offline model answers instead.
 * A handler that starts a turn warns before it replies, as the Codex CLI does. For turns that the host starts, the
 * first model call warns.
 */
export class ModelFallbackWarnings {
  readonly #configuredWindow: () => number | null;
  readonly #warned = new WeakMap<Actor, string>();

  /** `configuredWindow`: the context window that config.toml sets for all models. */
  constructor(configuredWindow: () => number | null) {
    this.#configuredWindow = configuredWindow;
  }

  beforeTurn(actor: Actor, { facts, settings, turn }: ThreadState): void {
    if (turn === null || turn.attempt > 1 || this.#warned.get(actor) === turn.id) return;
    this.#warned.set(actor, turn.id);
    const message =
      settings.modelProvider === OFFLINE_MODEL ? offlineWarning(settings) : this.#noWindow(settings);
    if (message !== undefined) actor.tell("warning", { threadId: facts.id, message });
  }

  /** The warning for an unknown model. Clients recognize the sentence by its first words, and show it once. */
  #noWindow({ model, contextWindow }: ThreadState["settings"]): string | undefined {
    const window = contextWindow ?? this.#configuredWindow() ?? contextWindowOf(model);
    if (window !== null) return undefined;
    return `Model metadata for \`${model}\` not found. Defaulting to fallback metadata; this can degrade performance and cause issues.`;
  }
}

/** The warning that the offline model answers in place of the requested model. */
function offlineWarning({ model }: ThreadState["settings"]): string | undefined {
  if (model === OFFLINE_MODEL) return undefined;
  return `The built-in offline model answers in place of \`${model}\`, because no model provider is configured. Set model_provider in config.toml, or send modelProvider with thread/start.`;
}
