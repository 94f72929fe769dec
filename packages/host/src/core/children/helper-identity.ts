import type { SessionSource } from "@bobbin/protocol";
import type { ThreadFacts } from "../life/records.ts";

/** What the source of a helper's thread says about the helper. */
export interface HelperFacts {
  readonly depth: number;
  readonly nickname: string | null;
  readonly role: string | null;
}

type Spawned = Extract<Extract<SessionSource, { subAgent: unknown }>["subAgent"], { thread_spawn: unknown }>;

/**
 * What a thread's source says about a helper; undefined if the thread is no helper. A child that handles an event has
 * its parent's source, and is no helper.
 */
export function helperFacts({ source, parentThreadId }: ThreadFacts): HelperFacts | undefined {
  const spawn = spawnOf(source);
  if (spawn === undefined || spawn.parent_thread_id !== parentThreadId) return undefined;
  return { depth: spawn.depth, nickname: spawn.agent_nickname, role: spawn.agent_role };
}

/** The depth of a helper: 0 for a thread that a client started, 1 for its helpers, and so on. */
export function depthOf({ source }: Pick<ThreadFacts, "source">): number {
  return spawnOf(source)?.depth ?? 0;
}

/** The root thread: the one that a client started. */
export function rootOf({ id, ancestors }: Pick<ThreadFacts, "id" | "ancestors">): string {
  return ancestors?.[0] ?? id;
}

/** The source of a new helper's thread. */
export function helperSource(
  parent: ThreadFacts,
  { nickname, role }: { readonly nickname: string; readonly role: string | null },
): SessionSource {
  return {
    subAgent: {
      thread_spawn: {
        parent_thread_id: parent.id,
        depth: depthOf(parent) + 1,
        agent_path: null,
        agent_nickname: nickname,
        agent_role: role,
      },
    },
  };
}

function spawnOf(source: SessionSource): Spawned["thread_spawn"] | undefined {
  if (typeof source === "string" || !("subAgent" in source)) return undefined;
  const { subAgent } = source;
  return typeof subAgent === "object" && "thread_spawn" in subAgent ? subAgent.thread_spawn : undefined;
}
