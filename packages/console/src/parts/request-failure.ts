import { signal } from "@preact/signals";

/** The last error reply of the host. It is shown until it is dismissed. */
export const failure = signal<string | undefined>(undefined);

/** Runs the request of a button. If it fails, shows why. */
export async function attempt(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    failure.value = undefined;
    return true;
  } catch (cause) {
    failure.value = cause instanceof Error ? cause.message : String(cause);
    return false;
  }
}
