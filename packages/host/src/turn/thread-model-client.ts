import type { ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import type { AnswerLimits } from "../model/answer-limits.ts";
import type { ContextItem, ModelEvent, ModelProvider, ModelRequest, ModelStream } from "../model/model.ts";
import { acceptsImages } from "../model/vision-support.ts";
import type { Actor } from "../thread/actor.ts";
import { untilAborted } from "./abortable-waits.ts";
import { withHookOutcomes } from "./context/apply-hook-outcomes.ts";
import { conversation } from "./context/conversation.ts";
import { withRestoredOutputMedia } from "./context/restored-output-media.ts";
import { userMessageParts } from "./context/user-message-parts.ts";
import { withoutPictures } from "./context/without-pictures.ts";
import type { RunnerPorts } from "./runner.ts";
import { AnswerSize, withinLimits } from "./stream/answer-size.ts";

type EventOf<T extends ModelEvent["type"]> = Extract<ModelEvent, { type: T }>;

/** The outcome of a model call whose answer is used as text. */
type TextOutcome =
  | {
      readonly kind: "said";
      readonly text: string;
      /** The text without the messages in which the model comments on its work. */
      readonly final: string;
      readonly calledTools: boolean;
      readonly event: EventOf<"done">;
    }
  | { readonly kind: "failed"; readonly event: EventOf<"failed"> };

/** Access to a thread's model: its history, its conversation, and calls with limits. */
export class ThreadModelClient {
  readonly #actor: Actor;
  readonly #ports: RunnerPorts;

  constructor(actor: Actor, ports: RunnerPorts) {
    this.#actor = actor;
    this.#ports = ports;
  }

  /** The model's history after hooks: blocked prompts are dropped, and replaced outputs are inserted. */
  async history(): Promise<readonly ThreadRecord[]> {
    return withHookOutcomes(await this.recorded());
  }

  /** The model's history as recorded, including blocked prompts and original outputs. */
  recorded(): Promise<readonly ThreadRecord[]> {
    return this.#ports.modelHistories.read(this.#actor.journal, this.#actor.head);
  }

  /** The conversation for a model call, built from records. */
  async conversation(
    { settings }: ThreadState,
    history: readonly ThreadRecord[],
  ): Promise<readonly ContextItem[]> {
    const files = this.#ports.filesOf(this.#actor.owner);
    const { journal } = this.#actor;
    const sources = { cwd: settings.cwd, files, blob: (name: string) => journal.blob(name) };
    const restored = await withRestoredOutputMedia(history, sources.blob);
    const items = await conversation(restored, settings.modelProvider, (content, blobs) =>
      userMessageParts(content, blobs, sources),
    );
    return acceptsImages(settings.model) ? items : withoutPictures(items);
  }

  /** Calls the model. The stream ends at the abort, or when the answer exceeds a limit. */
  listen(
    provider: ModelProvider,
    request: ModelRequest,
    { turn, callCount }: ThreadState,
    signal: AbortSignal,
    limits: AnswerLimits = this.#ports.modelsOf(this.#actor.id).answerLimits,
  ): ModelStream {
    const size = new AnswerSize(limits, callCount - (turn?.callsBefore ?? callCount));
    const stream = untilAborted(provider.stream(request, signal), signal);
    return withinLimits(stream, size, () => this.#ports.work.turn(this.#actor));
  }

  /** Calls the model and returns its text. Undefined after the abort, or if the stream ended without an end event. */
  async textOf(
    provider: ModelProvider,
    request: ModelRequest,
    state: ThreadState,
    signal: AbortSignal,
    limits?: AnswerLimits,
  ): Promise<TextOutcome | undefined> {
    const texts: string[] = [];
    const finals: string[] = [];
    let calledTools = false;
    for await (const events of this.listen(provider, request, state, signal, limits)) {
      if (signal.aborted) return undefined;
      for (const event of events) {
        if (event.type === "messageDone") {
          texts.push(event.text);
          if (event.phase !== "commentary") finals.push(event.text);
        } else if (event.type === "toolCall") calledTools = true;
        else if (event.type === "failed") return { kind: "failed", event };
        else if (event.type === "done") {
          const answer = { text: texts.join("\n\n"), final: finals.join("\n\n") };
          return { kind: "said", ...answer, calledTools, event };
        }
      }
    }
    return undefined;
  }
}
