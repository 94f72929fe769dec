import { describe, expect, it } from "vitest";
import { after, newThread, startTurn } from "../../../../../test/support/test-thread.ts";
import { rowOf } from "../../store/index-updates.ts";
import type { Command } from "../commands.ts";
import { fold } from "../fold.ts";
import { next } from "../next.ts";
import type { ThreadRecord } from "../records.ts";
import { checkpointOf } from "./make-checkpoint.ts";

const place = { path: null, archived: false };

describe("a new thread", () => {
  it("is listed once it has input, not before", () => {
    expect(rowOf(newThread(), 1, place).listed).toBe(false);
    expect(rowOf(after(newThread(), startTurn()), 2, place).listed).toBe(true);
    const empty = after(newThread(), { ...startTurn(), input: [] } as Command);
    expect(rowOf(empty, 2, place).listed).toBe(false);
  });

  it("has nothing to do and nothing to report", () => {
    expect(next(newThread())).toEqual([]);
  });
});

describe("a checkpoint", () => {
  it("is the state that it was made of, with all that it had", () => {
    const state = after(newThread(), startTurn(), { kind: "rename", at: 2, name: "named" });
    expect(fold(undefined, checkpointOf(state))).toEqual(state);
    const closed = after(state, { kind: "close", at: 3, reason: "requested" });
    expect(fold(undefined, checkpointOf(closed))).toEqual(closed);
  });

  it("keeps of its terminals those that are commands, because a damaged one may name anything", () => {
    const checkpoint = checkpointOf(newThread());
    const terminal = (id: string, type: string) => ({ item: { type, id }, processId: id });
    const terminals = [
      terminal("a", "commandExecution"),
      terminal("b", "plan"),
      terminal("c", "commandExecution"),
    ];
    const read = fold(undefined, {
      ...checkpoint,
      state: { ...checkpoint.state, terminals },
    } as unknown as ThreadRecord);
    expect(read.terminals.map(({ item }) => item.id)).toEqual(["a", "c"]);
  });
});
