import { expect, it } from "vitest";
import { eventuallyPasses } from "../../../../test/support/eventually.ts";
import type { Bounds, PathTrace, WatchedChange } from "../platform/machine-file-access.ts";
import { PathWatch } from "./path-watch.ts";

const parent = { path: "/work", id: "work", stamp: "1" };
const inside = { path: "/work/inside", id: "inside", stamp: "1", kind: "folder" } as const;
const leadsTo = (found: PathTrace["found"]): PathTrace => ({
  hops: [{ folder: parent, name: "link", isLast: true }],
  found,
});

it("[WATCH-3] reports the entries of a folder that it did not watch for a moment", async () => {
  const traces: PathTrace[] = [leadsTo(inside), leadsTo(inside)];
  const listeners = new Map<string, (change: WatchedChange) => void>();
  const reported: string[] = [];
  const bounds: Bounds = { isAllowed: () => true, signal: new AbortController().signal };
  const watch = await PathWatch.start("/work/link", {
    files: {
      trace: async () => traces.shift()!,
      list: async () => [{ name: "own", kind: "file" as const, size: 0 }],
    },
    watches: {
      listen({ id }, listener) {
        listeners.set(id, listener);
        return () => listeners.delete(id);
      },
    },
    timers: { after: () => () => {}, soon: (run) => setImmediate(run) },
    bounds,
    changed: (path) => reported.push(path),
  });
  // The link leads elsewhere and back while it is resolved. A file that changed meanwhile is not seen to change.
  traces.push(leadsTo(undefined), leadsTo(inside), leadsTo(inside));
  listeners.get("work")!({ kind: "entry", name: "link" });
  await eventuallyPasses(() => expect(traces).toEqual([]));
  await eventuallyPasses(() => expect(reported).toEqual(["/work/link", "/work/link", "/work/link/own"]));
  watch.close();
  expect([...listeners.keys()]).toEqual([]);
});
