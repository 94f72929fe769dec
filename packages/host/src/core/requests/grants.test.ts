import { describe, expect, it } from "vitest";
import { newThread } from "../../../../../test/support/test-thread.ts";
import { decide } from "../decide.ts";
import { fold } from "../fold.ts";
import { notify } from "../notify.ts";
import { definitionOf, type ThreadRecord } from "../records.ts";

const granted = (key: string, grantedAt?: number): ThreadRecord => ({
  type: "approvalGranted",
  turnId: "t",
  key,
  grantedAt,
});
const held = [granted("a", 5), granted("b"), granted("a", 7)].reduce(fold, newThread());
const revoke = (key: string) => ({ kind: "revokeGrant", at: 9, grantId: "id", key }) as const;

describe("a grant", () => {
  it("counts once, with the time at which it was given last", () => {
    expect([held.grants, held.grantTimes]).toEqual([["a", "b"], { a: 7 }]);
    expect(fold(held, granted("c", 8)).grantTimes).toEqual({ a: 7, c: 8 });
  });

  it("[GRANT-2] is revoked by a synced record, of which those who follow the thread are notified", () => {
    const decision = decide(held, revoke("a"), new Map());
    if (decision.kind === "refused") throw decision.fault;
    const [record] = decision.records;
    expect(decision.records).toEqual([{ type: "grantRevoked", at: 9, grantId: "id", key: "a" }]);
    expect([decision.state.grants, decision.state.grantTimes]).toEqual([["b"], {}]);
    expect(definitionOf(record!).durability).toBe("synced");
    expect(notify("thread", record!)).toEqual([
      {
        method: "thread/grants/revoked",
        params: { threadId: "thread", grantId: "id" },
        audience: "subscribers",
      },
    ]);
  });

  it("leaves nothing if it was the only one", () => {
    const one = fold(newThread(), granted("a", 5));
    expect(fold(one, { type: "grantRevoked", at: 0, grantId: "id", key: "a" })).toStrictEqual(newThread());
  });

  it("cannot be revoked twice", () => {
    expect(decide(held, revoke("c"), new Map())).toMatchObject({ kind: "refused" });
  });

  it.each([
    ["shutdown", ["a", "b"]],
    ["lost", ["a", "b"]],
    ["unsubscribed", []],
  ] as const)("is left after a thread was closed because of %s: %j", (reason, left) => {
    const closed = fold(held, { type: "closed", at: 9, reason });
    expect(closed.grants).toEqual(left);
    expect(closed.grantTimes === undefined).toBe(left.length === 0);
  });
});
