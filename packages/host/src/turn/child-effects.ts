import type { HelperCommand } from "../core/children/commands.ts";
import type { Child } from "../core/children/records.ts";
import type { Command } from "../core/commands.ts";
import type { ChildEffect, HelperEffect } from "../core/next.ts";
import type { ThreadState } from "../core/state.ts";
import { Fault } from "../errors.ts";
import type { Supervisor } from "../observe/supervise.ts";
import type { Platform } from "../platform/platform.ts";
import type { Actor } from "../thread/actor.ts";
import { waitUntil } from "./abortable-waits.ts";

export interface ChildEffectPorts {
  readonly platform: Platform;
  readonly supervisor: Supervisor;
  /** Creates a child, or waits for its end. Returns the outcome as a command for the parent, if there is one. */
  child(
    parent: Actor,
    state: ThreadState,
    child: Child,
    signal: AbortSignal,
  ): Promise<"childMade" | "childEnded" | undefined>;
  /** Creates a helper, sends it input, or reads its journal. Returns a command for the parent, if there is one. */
  helper(parent: Actor, effect: HelperEffect, signal: AbortSignal): Promise<HelperCommand | undefined>;
}

/**
 * The pauses before retries. After the last retry the parent continues without the child. The pauses are short, because
 * they are in no record: after a restart, the effect begins anew.
 */
const PAUSES_MS = [250, 500, 1000, 2000];

/** Performs an effect for a child or helper. Failures are retried: a full disk, for example, may have room soon. */
export async function performForChild(
  actor: Actor,
  ports: ChildEffectPorts,
  effect: ChildEffect | HelperEffect,
  signal: AbortSignal,
): Promise<void> {
  const { platform, supervisor } = ports;
  let done: Command | undefined;
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      done = await attempt(actor, ports, effect, signal);
      break;
    } catch (cause) {
      // The thread is being unloaded, or the host shuts down.
      if (signal.aborted || actor.gone || (cause instanceof Fault && cause.code === "shuttingDown")) return;
      if (!isRace(effect, cause)) supervisor.report(effect.key, cause);
      const pauseMs = PAUSES_MS[failures];
      if (pauseMs === undefined) {
        done = failed(effect, platform.clock.now(), cause);
        break;
      }
      await pause(pauseMs, platform, signal);
    }
  }
  if (done !== undefined && !signal.aborted) actor.offer(done);
}

/** Whether the failure is only a race with another operation, for example the close or compaction of a helper. */
function isRace({ kind }: ChildEffect | HelperEffect, cause: unknown): boolean {
  return kind === "helper" && cause instanceof Fault && cause.code !== "storageFailed";
}

async function attempt(
  actor: Actor,
  { platform, child, helper }: ChildEffectPorts,
  effect: ChildEffect | HelperEffect,
  signal: AbortSignal,
): Promise<Command | undefined> {
  if (effect.kind === "helper") return helper(actor, effect, signal);
  const kind = await child(actor, await actor.peek(), effect.child, signal);
  return kind && { kind, at: platform.clock.now(), childId: effect.child.childId };
}

function failed(effect: ChildEffect | HelperEffect, at: number, cause: unknown): Command | undefined {
  if (effect.kind === "child") return { kind: "childFailed", at, childId: effect.child.childId };
  const why = cause instanceof Error ? cause.message : String(cause);
  // A failed read of the helper's journal needs no command: the next host reads the journal again.
  return effect.what === "hear"
    ? undefined
    : { kind: "helperFailed", at, childId: effect.helper.childId, why };
}

/** Resolves after the pause, or when the effect is aborted. */
function pause(ms: number, platform: Platform, signal: AbortSignal): Promise<void> {
  return waitUntil(platform.clock.now() + ms, 0, platform, signal).catch(() => {});
}
