import type { ThreadState } from "../core/state.ts";
import type { ToolCall } from "../core/turn/records.ts";
import type { ToolSpec } from "../model/model.ts";
import { violationOf } from "./json-schema.ts";
import { refusal, type Step, type Tool, type ToolSource } from "./tool.ts";

/** All tools of a thread, by the names that models call them. The first of a name is the one that counts. */
export class Toolbox {
  readonly #sources: readonly ToolSource[];
  readonly #ready: (thread: ThreadState) => Promise<void> | undefined;

  /** `ready`: what has to be there before the sources can say what there is. */
  constructor(
    sources: readonly ToolSource[],
    ready: (thread: ThreadState) => Promise<void> | undefined = () => undefined,
  ) {
    this.#sources = sources;
    this.#ready = ready;
  }

  /** Resolves when it is known what a thread has; undefined: it is. */
  ready(thread: ThreadState): Promise<void> | undefined {
    return this.#ready(thread);
  }

  /** What the model is shown. */
  specs(thread: ThreadState): readonly ToolSpec[] {
    return [...this.#tools(thread).values()].flatMap(({ spec }) => (spec === null ? [] : [spec]));
  }

  /** The tool that a call names and what it is called with, or what the model has to hear. */
  async find(
    thread: ThreadState,
    call: ToolCall,
  ): Promise<{ readonly tool: Tool; readonly args: unknown } | { readonly refused: Step }> {
    await this.#ready(thread);
    const tool = this.#tools(thread).get(keyOf(call));
    if (tool === undefined) return { refused: refusal(`There is no tool named ${shownName(call)}.`) };
    if (call.kind === "custom") return { tool, args: call.arguments };
    let args: unknown;
    try {
      // Models that have nothing to say may say nothing.
      args = JSON.parse(call.arguments.trim() || "{}");
    } catch (cause) {
      return { refused: refusal(`The arguments are not valid JSON: ${(cause as Error).message}`) };
    }
    const violation = await violationOf(tool.parameters, args);
    if (violation === undefined) return { tool, args };
    return { refused: refusal(`The arguments do not fit ${shownName(call)}: ${violation}`) };
  }

  #tools(thread: ThreadState): ReadonlyMap<string, Tool> {
    const tools = new Map<string, Tool>();
    for (const tool of this.#sources.flatMap((source) => source(thread))) {
      if (!tools.has(keyOf(tool))) tools.set(keyOf(tool), tool);
    }
    return tools;
  }
}

function keyOf({ name, namespace }: { readonly name: string; readonly namespace: string | null }): string {
  return namespace === null ? name : `${namespace} ${name}`;
}

function shownName({ name, namespace }: ToolCall): string {
  return (namespace === null ? name : `${namespace}.${name}`).slice(0, 200);
}
