import type { ThreadState } from "../../core/state.ts";
import { Fault, fault } from "../../errors.ts";
import type { Registry } from "../../thread/registry.ts";
import type { Access } from "../../thread/stored-threads.ts";

/** The error codes for ephemeral and archived threads. */
interface Refusals {
  readonly ephemeral: "ephemeralGoal" | "ephemeralQueue";
  readonly archived: "threadNotFound" | "archived";
}

/** The state of a thread, loaded or not. Refuses ephemeral and archived threads. */
export async function nonEphemeralThread(
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

/** Refuses an ephemeral thread. Such a thread exists only while it is loaded. */
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
