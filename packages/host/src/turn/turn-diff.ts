import type { DiffEffect } from "../core/next.ts";
import type { ThreadState } from "../core/state.ts";
import { changesOf } from "../core/turn/file-changes.ts";
import type { Platform } from "../platform/platform.ts";
import type { Actor } from "../thread/actor.ts";
import type { WorkspaceChanges } from "../workspace/lazy-turn-files.ts";

interface Ports {
  readonly platform: Pick<Platform, "clock">;
  readonly turnFiles: WorkspaceChanges;
}

/** Sends clients the diff of the turn's file changes, unless they already have it. */
export async function sendTurnDiff(
  actor: Actor,
  { platform, turnFiles }: Ports,
  { turnId, upTo }: DiffEffect,
  state: ThreadState,
  signal: AbortSignal,
): Promise<void> {
  const changes = changesOf(state, turnId);
  if (changes === undefined) return;
  const shown = await turnFiles.diff(state, actor.journal, changes, signal);
  if (signal.aborted) return;
  const { diff, digest, trees } = shown;
  const isKnown = digest === changes.digest || (diff === "" && changes.digest === null);
  const at = platform.clock.now();
  actor.offer({ kind: "showDiff", at, turnId, upTo, diff: isKnown ? null : diff, digest, trees });
}
