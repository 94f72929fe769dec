import { Fault, fault } from "../errors.ts";

/** What the disk refuses is told as that, and not as a fault of ours. */
export async function saved<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    throw fault("storageFailed", cause instanceof Error ? cause.message : String(cause));
  }
}
