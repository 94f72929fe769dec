import type { HookRunSummary } from "@bobbin/protocol";
import type { HookOutcome } from "../core/hooks/records.ts";
import type { ThreadState } from "../core/state.ts";
import { seconds } from "../core/whole-seconds.ts";
import type { Clock } from "../platform/platform.ts";
import { cutMiddle } from "../tool/exec/cut-middle.ts";
import type { HookShellCommand, HookShellCommandEnd } from "../tool/exec/hook-command.ts";
import {
  type ConfiguredHook,
  type FoundHooks,
  findHooks,
  type HookFilePorts,
  mayRunHook,
} from "./configured-hooks.ts";
import { USUAL_CONTEXT_TOKENS } from "./hook-config.ts";
import { EVENTS, type HookEvent } from "./hook-events.ts";
import { type HookVerdict, readExit } from "./hook-output.ts";
import { matches } from "./matcher.ts";

export interface HookPorts extends HookFilePorts {
  readonly clock: Clock;
  /** Whether hooks run in a thread: only in those of the host's own user. */
  mayRun(thread: ThreadState): boolean;
  /** Whether hooks that are not required run in a thread (the feature `hooks`). */
  isOn(threadId: string): boolean;
  run(thread: ThreadState, command: HookShellCommand, signal: AbortSignal): Promise<HookShellCommandEnd>;
}

/** One event, for which hooks are run. */
export interface HookQuestion {
  readonly event: HookEvent;
  /** Names that matchers are compared with. */
  readonly names: readonly string[];
  /** JSON for the stdin of each hook. */
  readonly input: object;
  /** Distinguishes runs of the same hook within a turn. */
  readonly suffix: string | null;
}

/** Outcome of all hooks of one event. */
export interface HookResults {
  readonly runs: readonly HookRunSummary[];
  readonly verdicts: readonly HookVerdict[];
}

/** Limit on the tokens of one output text that is stored and shown. */
const ENTRY_TOKENS = 8000;

/** Runs the hooks of threads. A change of the configuration takes effect at a thread's next turn. */
export class Hooks {
  readonly #ports: HookPorts;
  /** Hooks by thread, and the turn for which they were read. */
  readonly #known = new Map<
    string,
    { readonly turnId: string | undefined; readonly set: Promise<HookSet> }
  >();

  #hasAny = false;

  constructor(ports: HookPorts) {
    this.#ports = ports;
  }

  /** Returns the hooks that run in a thread. Never rejects. */
  of(thread: ThreadState): Promise<HookSet> {
    const { facts, turn } = thread;
    const known = this.#known.get(facts.id);
    if (known !== undefined && known.turnId === turn?.id) return known.set;
    const set = this.#read(thread);
    this.#known.set(facts.id, { turnId: turn?.id, set });
    return set;
  }

  /** Whether any thread had hooks so far. */
  mayHave(): boolean {
    return this.#hasAny;
  }

  /** Returns all hooks of a folder, for display. */
  list(cwd: string | undefined): Promise<FoundHooks> {
    return findHooks(this.#ports, cwd);
  }

  /** Returns the hooks of the project around a folder that do not run because their content is not trusted. */
  async withheld(cwd: string): Promise<readonly ConfiguredHook[]> {
    const { hooks } = await findHooks(this.#ports, cwd, { untrusted: true });
    return hooks.filter(({ source, trust }) => source === "project" && trust !== "trusted");
  }

  unload(threadId: string): void {
    this.#known.delete(threadId);
  }

  /** Runs hooks concurrently. Resolves when all have ended. */
  async run(
    thread: ThreadState,
    hooks: readonly ConfiguredHook[],
    question: HookQuestion,
    signal: AbortSignal,
  ): Promise<HookResults> {
    const input = `${JSON.stringify(question.input)}\n`;
    const done: { readonly order: number; readonly verdict: HookVerdict }[] = [];
    const runs = await Promise.all(
      hooks.map(async (hook) => {
        const started = this.#ports.clock.now();
        const command = { text: hook.command, input, timeoutMs: hook.timeoutSec * 1000 };
        const exit = await this.#ports.run(thread, command, signal);
        const verdict = limited(hook, readExit(hook.event, exit, !hook.async));
        done.push({ order: hook.displayOrder, verdict });
        const now = this.#ports.clock.now();
        return {
          ...runOf(hook, question, started),
          status: verdict.status,
          completedAt: seconds(now),
          durationMs: Math.max(0, Math.round(now - started)),
          entries: verdict.entries.map(({ kind, text }) => ({
            kind,
            text: cutMiddle(text, ENTRY_TOKENS).text,
          })),
        };
      }),
    );
    // If several hooks replace the input, the one that ended last decides. Everything else is combined in the order
    // of the configuration.
    const last = done.findLast(({ verdict }) => verdict.input !== undefined)?.verdict;
    const verdicts = done
      .toSorted((one, other) => one.order - other.order)
      .map(({ verdict }) =>
        verdict === last || verdict.input === undefined ? verdict : withoutInput(verdict),
      );
    return { runs, verdicts };
  }

  /** Returns the summaries of runs that are about to start. */
  started(hooks: readonly ConfiguredHook[], question: HookQuestion): readonly HookRunSummary[] {
    const now = this.#ports.clock.now();
    return hooks.map((hook) => runOf(hook, question, now));
  }

  async #read(thread: ThreadState): Promise<HookSet> {
    if (!this.#ports.mayRun(thread)) return new HookSet([]);
    // Errors in the files are ignored here, because `hooks/list` reports them.
    const { hooks } = await findHooks(this.#ports, thread.settings.cwd).catch(() => ({ hooks: [] }));
    const isOn = this.#ports.isOn(thread.facts.id);
    const running = hooks.filter((hook) => mayRunHook(hook) && (isOn || hook.trust === "managed"));
    if (running.length > 0) this.#hasAny = true;
    return new HookSet(running);
  }
}

/** The hooks that run in one turn of a thread. */
export class HookSet {
  readonly #hooks: readonly ConfiguredHook[];

  constructor(hooks: readonly ConfiguredHook[]) {
    this.#hooks = hooks;
  }

  get isEmpty(): boolean {
    return this.#hooks.length === 0;
  }

  matching(event: HookEvent, names: readonly string[] = []): readonly ConfiguredHook[] {
    return this.#hooks.filter((hook) => hook.event === event && matches(hook.matcher, names));
  }
}

function withoutInput(verdict: HookVerdict): HookVerdict {
  const { input: _, ...others } = verdict;
  return others;
}

function limited({ additionalContextLimit }: ConfiguredHook, verdict: HookVerdict): HookVerdict {
  const tokens = additionalContextLimit ?? USUAL_CONTEXT_TOKENS;
  if (verdict.context === undefined || tokens === 0) return verdict;
  return { ...verdict, context: cutMiddle(verdict.context, tokens).text };
}

function runOf(hook: ConfiguredHook, { suffix }: HookQuestion, startedAt: number): HookRunSummary {
  const label = EVENTS[hook.event].label.replaceAll("_", "-");
  const id = `${label}:${hook.displayOrder}:${hook.sourcePath}`;
  return {
    id: suffix === null ? id : `${id}:${suffix}`,
    eventName: hook.event,
    handlerType: "command",
    executionMode: hook.async ? "async" : "sync",
    scope: EVENTS[hook.event].scope,
    source: hook.source,
    sourcePath: hook.sourcePath,
    displayOrder: hook.displayOrder,
    status: "running",
    statusMessage: hook.statusMessage,
    startedAt: seconds(startedAt),
    completedAt: null,
    durationMs: null,
    entries: [],
  };
}

/** Combines the outcomes of all hooks. A single refusal refuses. */
export function outcomeOf(verdicts: readonly HookVerdict[]): HookOutcome {
  const texts = (pick: (verdict: HookVerdict) => string | undefined): readonly string[] =>
    verdicts.map(pick).filter((text) => text !== undefined);
  const blocks = texts(({ block }) => block);
  const contexts = texts(({ context }) => context);
  const feedback = texts(({ feedback }) => feedback);
  return {
    ...(blocks.length > 0 && { block: blocks.join("\n\n") }),
    ...(verdicts.some(({ stop }) => stop) && { stop: true }),
    ...(contexts.length > 0 && { contexts }),
    ...(feedback.length > 0 && { feedback: feedback.join("\n\n") }),
  };
}
