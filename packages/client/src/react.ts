// React hooks. React is an optional peer dependency of the package: only this module imports it.
import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import type { Bobbin } from "./bobbin.ts";
import { type ConnectOptions, connect } from "./connect.ts";
import type { ConnectionStatus, OpenConnection } from "./connection/connection-keeper.ts";
import type { FollowedThread, FollowOptions } from "./followed-thread.ts";
import type { ThreadState } from "./state/thread-state.ts";

/** The state of a connection or thread that is being opened. */
export type Opening<T> =
  | { readonly value: T; readonly error: null }
  | { readonly value: null; readonly error: Error | null };

const WAITING: Opening<never> = { value: null, error: null };

/**
 * Connects when the component is mounted, and closes when it is unmounted. Waits for the host: `error` is set only if
 * the connection can never be made. A change of `options` after the first render has no effect.
 *
 * @example
 * function App() {
 *   const { value: bobbin } = useBobbin("ws://127.0.0.1:4545");
 *   return bobbin ? <Chat bobbin={bobbin} /> : <p>Connecting …</p>;
 * }
 */
export function useBobbin(target: string | OpenConnection, options: ConnectOptions = {}): Opening<Bobbin> {
  const [opening, setOpening] = useState<Opening<Bobbin>>(WAITING);
  // biome-ignore lint/correctness/useExhaustiveDependencies: options are those of the first render.
  useEffect(() => {
    const stop = new AbortController();
    connect(target, { waitForHost: true, ...options, signal: stop.signal }).then(
      (value) => (stop.signal.aborted ? value.close() : setOpening({ value, error: null })),
      (error: Error) => !stop.signal.aborted && setOpening({ value: null, error }),
    );
    return () => {
      stop.abort();
      setOpening(WAITING);
    };
  }, [target]);
  return opening;
}

/**
 * Follows a thread while the component is mounted, and leaves it afterwards. Null as `threadId` follows none.
 *
 * @example
 * const { value: thread, error } = useFollowedThread(bobbin, threadId, { recentTurns: 20 });
 */
export function useFollowedThread(
  bobbin: Bobbin | null,
  threadId: string | null,
  { recentTurns }: FollowOptions = {},
): Opening<FollowedThread> {
  const [opening, setOpening] = useState<Opening<FollowedThread>>(WAITING);
  useEffect(() => {
    if (bobbin === null || threadId === null) return undefined;
    let isOver = false;
    const wasFollowed = bobbin.threads.has(threadId);
    // Leaving fails if the connection is closed, and then nothing has to be left.
    const leave = (thread: FollowedThread) => void (wasFollowed || thread.leave().catch(() => {}));
    let thread: FollowedThread | undefined;
    bobbin.resumeThread(threadId, {}, { recentTurns }).then(
      (value) => {
        thread = value;
        if (isOver) leave(value);
        else setOpening({ value, error: null });
      },
      (error: Error) => !isOver && setOpening({ value: null, error }),
    );
    return () => {
      isOver = true;
      if (thread) leave(thread);
      setOpening(WAITING);
    };
  }, [bobbin, threadId, recentTurns]);
  return opening;
}

/**
 * The state of a thread. The component renders again when it changes, at most once per frame while text streams.
 *
 * @example
 * const state = useThreadState(thread);
 * return state.turns.flatMap(({ items }) => items).map((item) => <Item key={item.id} item={currentItem(state, item)} />);
 */
export function useThreadState(thread: FollowedThread): ThreadState {
  const subscribe = useMemo(() => perFrame((listener) => thread.subscribe(listener)), [thread]);
  const read = () => thread.state;
  return useSyncExternalStore(subscribe, read, read);
}

/**
 * The status of the connection. The component renders again when it changes.
 *
 * @example
 * const { state } = useConnection(bobbin);
 * return state === "connected" ? null : <Banner>Reconnecting …</Banner>;
 */
export function useConnection(bobbin: Bobbin): ConnectionStatus {
  const subscribe = useMemo(() => (listener: () => void) => bobbin.onConnection(listener), [bobbin]);
  const read = () => bobbin.connection;
  return useSyncExternalStore(subscribe, read, read);
}

type Subscribe = (listener: () => void) => () => void;

/** Calls the listener at most once per frame. Without frames, such as in Node, at the end of the task. */
function perFrame(subscribe: Subscribe): Subscribe {
  const { requestAnimationFrame = (run: () => void) => queueMicrotask(run) } = globalThis as {
    requestAnimationFrame?: (run: () => void) => unknown;
  };
  return (listener) => {
    let isDue = false;
    let isOver = false;
    const stop = subscribe(() => {
      if (isDue) return;
      isDue = true;
      requestAnimationFrame(() => {
        isDue = false;
        if (!isOver) listener();
      });
    });
    return () => {
      isOver = true;
      stop();
    };
  };
}
