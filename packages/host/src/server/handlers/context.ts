import type { Thread, ThreadSection, Turn } from "@bobbin/protocol";
import type { RateLimits } from "../../account/rate-limits.ts";
import type { Config } from "../../config/config.ts";
import { type Place, threadView } from "../../core/life/views.ts";
import type { ThreadState } from "../../core/state.ts";
import type { ThreadIndex } from "../../journal/index/thread-index.ts";
import type { Head } from "../../journal/recall.ts";
import type { Sections } from "../../journal/sections.ts";
import type { ModelProviders } from "../../model/providers.ts";
import type { Metrics } from "../../observe/metrics.ts";
import type { Supervisor } from "../../observe/supervise.ts";
import type { Platform } from "../../platform/platform.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { Idle } from "../../thread/idle.ts";
import type { KeyedStarts } from "../../thread/keyed-starts.ts";
import type { Registry } from "../../thread/registry.ts";
import type { Access } from "../../thread/stored.ts";
import type { ExecSource } from "../../tool/exec/exec-source.ts";
import type { LazyRap } from "../../tool/rap/lazy-rap.ts";
import type { RulesStore } from "../../tool/rules-store.ts";
import type { WorkspaceChanges } from "../../workspace/lazy-turn-files.ts";
import { maySee, ownerOf } from "../authorize.ts";
import type { ClientProcesses } from "../client-processes.ts";
import type { Connection } from "../connection.ts";
import type { Reach, ReachLookup } from "../reach.ts";

/** What handlers work with. */
export interface HandlerContext {
  readonly home: string;
  /** As it is now: clients may change it. */
  readonly config: Config;
  /** Why it is not the one that people wrote; null if it is. */
  readonly wrongConfig: string | null;
  /** From now on, for what asks for it then. */
  configure(config: Config): void;
  readonly platform: Platform;
  readonly registry: Registry;
  readonly keyedStarts: KeyedStarts;
  readonly idle: Idle;
  readonly index: ThreadIndex;
  readonly providers: ModelProviders;
  readonly rateLimits: RateLimits;
  readonly metrics: Metrics;
  readonly sections: Sections;
  readonly rap: LazyRap;
  readonly rules: RulesStore;
  readonly exec: ExecSource;
  /** Those of `process/spawn`. */
  readonly clientProcesses: ClientProcesses;
  readonly turnFiles: WorkspaceChanges;
  /** Those of `command/exec`. */
  readonly clientCommands: ClientProcesses;
  /** Confines commands. */
  readonly sandbox: Sandbox;
  /** Takes work that nobody awaits. */
  readonly supervisor: Supervisor;
  readonly reachLookup: ReachLookup;
  /** What lists show of a thread follows its journal's place. */
  reindex(head: Head, place: Place): void;
}

/** A thread as clients see it. */
export type Viewer = (state: ThreadState, place: Place, turns?: Turn[]) => Thread;

/** Views with the sections as they are now. */
export async function viewer({ sections }: HandlerContext, connection: Connection): Promise<Viewer> {
  const known = await sections.all(seenOwner(connection));
  return (state, place, turns) =>
    inSection(threadView(state, place, turns), known, state.section?.id ?? null);
}

/** A thread with its section; one that was deleted has nobody in it, and nobody went there. */
export function inSection(thread: Thread, known: readonly ThreadSection[], sectionId: string | null): Thread {
  const section = known.find(({ id }) => id === sectionId) ?? null;
  return { ...thread, section, sectionEnteredAt: section && thread.sectionEnteredAt };
}

/** Whose threads and sections a connection sees: undefined for everybody's. */
export function seenOwner({ meta: { principal } }: Connection): string | undefined {
  return principal.kind === "subject" ? ownerOf(principal) : undefined;
}

/** What a request may ask for beyond threads. */
export function reachOf({ reachLookup }: HandlerContext, { meta: { principal } }: Connection): Reach {
  return reachLookup.of(ownerOf(principal));
}

/** Which threads a request may touch. Another subject's thread is answered as one that does not exist. */
export function accessOf({ meta: { principal } }: Connection): Access {
  return (owner) => maySee(principal, owner);
}
