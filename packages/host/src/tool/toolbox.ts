import type { Command } from "../core/commands.ts";
import type { Effect } from "../core/next.ts";
import type { Commit } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import type { ToolCall } from "../core/turn/records.ts";
import type { ToolSpec } from "../model/model.ts";
import { violationOf } from "./json-schema-check.ts";
import { type SearchableTool, ToolSearchCache } from "./search/tool-search.ts";
import { type LiveOutput, refusal, type Step, type Tool, type ToolSource } from "./tool.ts";

/** All tool sources of the host. If two tools have the same name, the one of the earlier source is used. */
export class Toolbox {
  readonly #sources: readonly ToolSource[];
  readonly #searches = new ToolSearchCache();

  constructor(sources: readonly ToolSource[]) {
    this.#sources = sources;
  }

  /**
   * Resolves when all tools of a thread are known, or the tool of `call` is; undefined if nothing has to be awaited.
   */
  ready(thread: ThreadState, call?: ToolCall): Promise<void> | undefined {
    const waits = this.#sources.flatMap((source) => source.ready?.(thread, call) ?? []);
    return waits.length === 0 ? undefined : Promise.all(waits).then(() => {});
  }

  load(thread: ThreadState): void {
    for (const source of this.#sources) source.load?.(thread);
  }

  leave(threadId: string): Promise<void> | undefined {
    const waits = this.#sources.flatMap((source) => source.leave?.(threadId) ?? []);
    return waits.length === 0 ? undefined : Promise.all(waits).then(() => {});
  }

  unload(threadId: string): void {
    for (const source of this.#sources) source.unload?.(threadId);
  }

  committed(commit: Commit, thread: ThreadState): void {
    for (const source of this.#sources) source.committed?.(commit, thread);
  }

  mustNotify(thread: ThreadState): boolean {
    return this.#sources.some((source) => source.mustNotify?.(thread));
  }

  start(): void {
    for (const source of this.#sources) source.start?.();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#sources.map(async (source) => source.stop?.()));
  }

  async close(): Promise<void> {
    await Promise.all(this.#sources.map(async (source) => source.close?.()));
  }

  /** Performs an effect, using the source that supports effects of this kind. */
  perform(effect: Effect, thread: ThreadState, signal: AbortSignal, live: LiveOutput): Promise<Command> {
    type Perform = (
      effect: Effect,
      thread: ThreadState,
      signal: AbortSignal,
      live: LiveOutput,
    ) => Promise<Command>;
    for (const { effects } of this.#sources) {
      const perform = effects?.[effect.kind] as Perform | undefined;
      if (perform !== undefined) return perform(effect, thread, signal, live);
    }
    throw new Error(`no tool source performs effects of the kind ${effect.kind}`);
  }

  /** The tool definitions for the model. */
  specs(thread: ThreadState): readonly ToolSpec[] {
    return [...this.#tools(thread).values()].flatMap(({ spec }) => (spec === null ? [] : [spec]));
  }

  /** The tool that a call names and its parsed arguments, or the refusal for the model. */
  async find(
    thread: ThreadState,
    call: ToolCall,
  ): Promise<{ readonly tool: Tool; readonly args: unknown } | { readonly refused: Step }> {
    await this.ready(thread, call);
    const tool = this.#tools(thread).get(keyOf(call));
    if (tool === undefined) return { refused: refusal(`There is no tool named ${shownName(call)}.`) };
    if (call.kind === "custom") return { tool, args: call.arguments };
    let args: unknown;
    try {
      // Some models send an empty text if there are no arguments.
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
    for (const tool of this.#sources.flatMap((source) => source.tools(thread))) {
      if (!tools.has(keyOf(tool))) tools.set(keyOf(tool), tool);
    }
    const lists = this.#sources.map((source) => source.searched?.(thread) ?? NONE);
    if (lists.some(({ length }) => length > 0)) {
      const search = this.#searches.of(lists);
      if (!tools.has(keyOf(search))) tools.set(keyOf(search), search);
    }
    return tools;
  }
}

const NONE: readonly SearchableTool[] = [];

function keyOf({ name, namespace }: { readonly name: string; readonly namespace: string | null }): string {
  return namespace === null ? name : `${namespace} ${name}`;
}

function shownName({ name, namespace }: ToolCall): string {
  return (namespace === null ? name : `${namespace}.${name}`).slice(0, 200);
}
