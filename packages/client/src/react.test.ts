import { createElement } from "react";
import { act, create, type ReactTestRenderer } from "react-test-renderer";
import { describe, expect, it } from "vitest";
import type { Bobbin } from "./bobbin.ts";
import type { ConnectionStatus } from "./connection/connection-keeper.ts";
import type { FollowedThread } from "./followed-thread.ts";
import { useBobbin, useConnection, useFollowedThread, useThreadState } from "./react.ts";
import { reduceThread } from "./state/reduce-thread.ts";
import { emptyThread, type ThreadEvent } from "./state/thread-state.ts";

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

/** A thread whose state the test changes. */
function fakeThread(id = "t") {
  const listeners = new Set<() => void>();
  const thread = {
    id,
    state: emptyThread(id),
    left: 0,
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async leave() {
      thread.left++;
    },
  };
  const hear = (event: ThreadEvent) => {
    thread.state = reduceThread(thread.state, event);
    for (const listener of listeners) listener();
  };
  return { thread: thread as unknown as FollowedThread & { left: number }, hear, listeners };
}

const named = (threadName: string) =>
  ({ method: "thread/name/updated", params: { threadId: "t", threadName } }) as ThreadEvent;

async function render(element: ReturnType<typeof createElement>): Promise<ReactTestRenderer> {
  let made!: ReactTestRenderer;
  await act(async () => {
    made = create(element);
  });
  return made;
}

describe("the React hooks", () => {
  it("render a thread's state again when it changes, once for changes of one frame", async () => {
    const { thread, hear, listeners } = fakeThread();
    let renders = 0;
    const View = () => {
      renders++;
      return createElement("p", null, useThreadState(thread).name);
    };
    const view = await render(createElement(View));
    await act(async () => {
      for (const name of ["a", "b", "c"]) hear(named(name));
    });
    expect([view.toJSON(), renders]).toMatchObject([{ children: ["c"] }, 2]);
    await act(async () => view.unmount());
    expect(listeners.size).toBe(0);
  });

  it("follow a thread while they are mounted", async () => {
    const { thread } = fakeThread();
    const bobbin = { threads: new Map(), resumeThread: async () => thread } as unknown as Bobbin;
    const View = () => createElement("p", null, useFollowedThread(bobbin, "t").value?.id ?? "none");
    const view = await render(createElement(View));
    expect(view.toJSON()).toMatchObject({ children: ["t"] });
    await act(async () => view.unmount());
    expect(thread.left).toBe(1);
  });

  it("show why a thread cannot be followed", async () => {
    const resumeThread = async () => Promise.reject(new Error("thread not found"));
    const bobbin = { threads: new Map(), resumeThread } as unknown as Bobbin;
    const View = () => createElement("p", null, useFollowedThread(bobbin, "t").error?.message);
    expect((await render(createElement(View))).toJSON()).toMatchObject({ children: ["thread not found"] });
  });

  it("show the connection", async () => {
    const listeners = new Set<() => void>();
    let connection: ConnectionStatus = { state: "connected" };
    const bobbin = {
      get connection() {
        return connection;
      },
      onConnection: (listener: () => void) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    } as unknown as Bobbin;
    const View = () => createElement("p", null, useConnection(bobbin).state);
    const view = await render(createElement(View));
    connection = { state: "connecting", attempt: 1, error: null };
    await act(async () => {
      for (const listener of listeners) listener();
    });
    expect(view.toJSON()).toMatchObject({ children: ["connecting"] });
  });

  it("wait for a host, and stop trying when they are unmounted", async () => {
    const signals: AbortSignal[] = [];
    const open = async (signal: AbortSignal): Promise<never> => {
      signals.push(signal);
      throw new Error("no host");
    };
    const View = () => createElement("p", null, useBobbin(open).value === null ? "waiting" : "there");
    const view = await render(createElement(View));
    expect(view.toJSON()).toMatchObject({ children: ["waiting"] });
    await act(async () => view.unmount());
    expect(signals.at(-1)!.aborted).toBe(true);
  });
});
