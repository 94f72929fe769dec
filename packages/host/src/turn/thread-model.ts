import type { ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import type { AnswerLimits } from "../model/answer-limits.ts";
import type { ContextItem, ModelEvent, ModelProvider, ModelRequest, ModelStream } from "../model/model.ts";
import { canSee } from "../model/sight.ts";
import type { Actor } from "../thread/actor.ts";
import { AnswerSize, withinLimits } from "./answer-size.ts";
import { conversation } from "./context.ts";
import { withKeptOutputs } from "./restored.ts";
import type { RunnerPorts } from "./runner.ts";
import { userParts } from "./user-parts.ts";
import { untilAborted } from "./waiting.ts";
import { withoutPictures } from "./without-pictures.ts";

type EventOf<T extends ModelEvent["type"]> = Extract<ModelEvent, { type: T }>;

/** A model's answer to a request for words. */
type Words =
  | {
      readonly kind: "said";
      readonly text: string;
      /** Without what the model says to itself and to others on the way to its answer. */
      readonly final: string;
      readonly calledTools: boolean;
      readonly event: EventOf<"done">;
    }
  | { readonly kind: "failed"; readonly event: EventOf<"failed"> };

/** What a thread has said so far, and how its model is listened to, whatever the model is called for. */
export class ThreadModel {
  readonly #actor: Actor;
  readonly #ports: RunnerPorts;

  constructor(actor: Actor, ports: RunnerPorts) {
    this.#actor = actor;
    this.#ports = ports;
  }

  past(): Promise<readonly ThreadRecord[]> {
    return this.#ports.pasts.read(this.#actor.journal, this.#actor.head);
  }

  /** The records as a model is shown them. */
  async conversation(
    { settings }: ThreadState,
    past: readonly ThreadRecord[],
  ): Promise<readonly ContextItem[]> {
    const files = this.#ports.filesOf(this.#actor.owner);
    const { journal } = this.#actor;
    const sources = { cwd: settings.cwd, files, blob: (name: string) => journal.blob(name) };
    const whole = await withKeptOutputs(past, sources.blob);
    const said = await conversation(whole, settings.modelProvider, (content, blobs) =>
      userParts(content, blobs, sources),
    );
    return canSee(settings.model) ? said : withoutPictures(said);
  }

  /** What the model says to a request, until the abort and within the limits. */
  listen(
    provider: ModelProvider,
    request: ModelRequest,
    { turn, callCount }: ThreadState,
    signal: AbortSignal,
    limits: AnswerLimits = this.#ports.models.answerLimits,
  ): ModelStream {
    const size = new AnswerSize(limits, callCount - (turn?.callsBefore ?? callCount));
    const stream = untilAborted(provider.stream(request, signal), signal);
    return withinLimits(stream, size, () => this.#ports.work.turn(this.#actor));
  }

  /** What the model says in words alone; undefined if it did not say how it ended, or after the abort. */
  async words(
    provider: ModelProvider,
    request: ModelRequest,
    state: ThreadState,
    signal: AbortSignal,
    limits?: AnswerLimits,
  ): Promise<Words | undefined> {
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
          const said = { text: texts.join("\n\n"), final: finals.join("\n\n") };
          return { kind: "said", ...said, calledTools, event };
        }
      }
    }
    return undefined;
  }
}
