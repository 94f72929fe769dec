import { permissionsOf } from "../core/children/helper-thread-state.ts";
import type { ThreadState } from "../core/state.ts";
import type { Actor } from "./actor.ts";
import type { Idle } from "./idle-unload.ts";
import type { Registry } from "./registry.ts";
import { ANYONE } from "./stored-threads.ts";
import type { LoadRequest } from "./thread-loader.ts";

export interface HelperLoadPorts {
  readonly registry: Registry;
  readonly idle: Idle;
}

/** Loads a helper's thread with the current permissions of its parent. */
export async function loadHelper(
  { registry, idle }: HelperLoadPorts,
  parent: ThreadState,
  childId: string,
): Promise<Actor> {
  const request: LoadRequest = {
    changes: async () => permissionsOf(parent.settings),
    load: {},
    docs: async () => parent.docs,
  };
  return registry.load(childId, ANYONE, request, {
    async join(actor, _state, cold) {
      if (!cold) return;
      // A helper that is just being opened is not in `open` yet. It is unloaded at the latest with its parent.
      if (parent.helpers.open.some((helper) => helper.childId === childId)) idle.forNobody(actor);
      idle.observeFromAbove(actor);
    },
  });
}
