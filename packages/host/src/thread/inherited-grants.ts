import { helperFacts } from "../core/children/helper-identity.ts";
import type { ThreadState } from "../core/state.ts";
import type { Registry } from "./registry.ts";

/** Adds the grants of all the helper's ancestors that are loaded. */
export async function withInheritedGrants(registry: Registry, thread: ThreadState): Promise<ThreadState> {
  const { parentThreadId } = thread.facts;
  if (parentThreadId === null || helperFacts(thread.facts) === undefined) return thread;
  const parent = registry.get(parentThreadId);
  if (parent === undefined) return thread;
  const { grants } = await withInheritedGrants(registry, await parent.peek());
  const more = grants.filter((key) => isInherited(key) && !thread.grants.includes(key));
  return more.length === 0 ? thread : { ...thread, grants: [...thread.grants, ...more] };
}

/** Whether helpers inherit a grant. A grant to write to a process applies only to the thread of that process. */
function isInherited(key: string): boolean {
  return !key.startsWith("stdin ");
}
