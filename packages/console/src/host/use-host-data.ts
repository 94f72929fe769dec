import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { connection } from "../host-connection.ts";

/** The data that a section has read, and a function that reads it again. */
export interface HostData<T> {
  readonly value: T | undefined;
  readonly problem: string | undefined;
  again(): void;
}

/**
 * Reads data from the host when the section appears, and again when the window gets the focus and after a reconnect,
 * because the new connection may be to another host. With `everyMs`, also at this interval.
 */
export function useHostData<T>(read: () => Promise<T>, everyMs?: number): HostData<T> {
  const value: Signal<T | undefined> = useSignal<T | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const again = () => {
    read().then(
      (found) => {
        value.value = found;
        problem.value = undefined;
      },
      (cause: unknown) => {
        problem.value = cause instanceof Error ? cause.message : String(cause);
      },
    );
  };
  useEffect(() => {
    window.addEventListener("focus", again);
    // The listener is also called at once. If there is a connection, that is the first read.
    const stop = connection.subscribe(({ state }) => {
      if (state === "connected") again();
    });
    const clock = everyMs === undefined ? undefined : setInterval(again, everyMs);
    return () => {
      window.removeEventListener("focus", again);
      stop();
      clearInterval(clock);
    };
  }, []);
  return { value: value.value, problem: problem.value, again };
}
