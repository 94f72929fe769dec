import type { ThreadState } from "../../core/state.ts";
import { Fault, fault } from "../../errors.ts";
import type { Registry } from "../../thread/registry.ts";
import type { Access } from "../../thread/stored.ts";

/** How those are refused that do not last, or are put away. */
interface Refusals {
  readonly ephemeral: "ephemeralGoal" | "ephemeralQueue";
  readonly archived: "threadNotFound" | "archived";
}

/** A thread as it is, loaded or not, that can be asked to do something later. */
export async function lastingThread(
  registry: Registry,
  threadId: string,
  access: Access,
  refusals: Refusals,
): Promise<ThreadState> {
  try {
    return await registry.read(threadId, access, async (journal, state) => {
      if (state.facts.ephemeral) throw fault(refusals.ephemeral, state.facts.id);
      if (journal.place.archived) throw fault(refusals.archived, state.facts.id);
      return state;
    });
  } catch (cause) {
    throw cause instanceof Fault && cause.code === "threadNotLoaded"
      ? fault("threadNotFound", threadId)
      : cause;
  }
}

type EphemeralRefusal = "ephemeralMetadata" | "ephemeralSection" | "ephemeralDelete" | "ephemeralRevert";

/** For what is of use to threads only that last. Ephemeral ones are loaded, or they are no more. */
export async function refuseEphemeral(
  registry: Registry,
  threadId: string,
  access: Access,
  refusal: EphemeralRefusal,
): Promise<void> {
  const actor = await registry.findLoaded(threadId, access);
  if (actor === undefined || !actor.ephemeral) return;
  throw fault(refusal, actor.id);
}
