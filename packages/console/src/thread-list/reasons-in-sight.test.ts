import type { Bobbin } from "@bobbin/client";
import type { Thread } from "@bobbin/protocol";
import { expect, it } from "vitest";
import { eventually } from "../../../../test/support/eventually.ts";
import { ReasonsInSight } from "./reasons-in-sight.ts";

function row(id: string, status: "idle" | "notLoaded") {
  return { thread: { id, status: { type: status } } as Thread };
}

/** A loaded thread that one client follows. */
const FOLLOWED = {
  resident: true,
  subscribers: 1,
  turnId: null,
  pendingRequests: 0,
  pendingCalls: 0,
  descendants: 0,
  unloadsInMs: null,
};

function stage() {
  const asked: object[] = [];
  const client = {
    async request(method: string, params: { readonly threadIds: readonly string[] }) {
      asked.push({ method, ...params });
      return { threads: params.threadIds.map((threadId) => ({ threadId, ...FOLLOWED })) };
    },
  };
  return { asked, reasons: new ReasonsInSight(client as unknown as Bobbin) };
}

it("asks the host about the loaded threads in sight, and not about others", async () => {
  const { asked, reasons } = stage();
  reasons.sighted([row("a", "notLoaded"), row("b", "idle"), row("c", "idle")]);
  await eventually(() => reasons.texts.value.size === 2, "the reasons were read");
  expect(asked).toEqual([{ method: "server/diagnostics", threadIds: ["b", "c"] }]);
  expect(reasons.texts.value.get("b")).toBe("1 client follows it");
});

it("asks nothing while no loaded thread is in sight", () => {
  const { asked, reasons } = stage();
  reasons.sighted([row("a", "notLoaded")]);
  reasons.refresh();
  expect(asked).toEqual([]);
});

it("asks again when it is refreshed, and when another loaded thread comes into sight", async () => {
  const { asked, reasons } = stage();
  reasons.sighted([row("b", "idle")]);
  reasons.sighted([row("b", "idle")]);
  reasons.refresh();
  await eventually(() => asked.length === 2, "it was refreshed");
  reasons.sighted([row("c", "idle")]);
  await eventually(() => reasons.texts.value.has("c"), "the other thread was read");
  expect(asked).toHaveLength(3);
});
