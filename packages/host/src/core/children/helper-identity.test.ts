import { describe, expect, it } from "vitest";
import {
  HELPER_DONE,
  HELPER_RUNNING,
  hearHelper,
  helping,
  spawnHelper,
} from "../../../../../test/support/helping-thread.ts";
import { after, newThread } from "../../../../../test/support/test-thread.ts";
import { depthOf, helperFacts, helperSource, rootOf } from "./helper-identity.ts";
import { isAtWork, isFinal, permissionsOf } from "./helper-thread-state.ts";

describe("the facts about a helper", () => {
  const parent = newThread().facts;

  it("are in the source of its thread, one deeper than its parent", () => {
    const source = helperSource(parent, { nickname: "Weft", role: "explorer" });
    expect(source).toEqual({
      subAgent: {
        thread_spawn: {
          parent_thread_id: "t",
          depth: 1,
          agent_path: null,
          agent_nickname: "Weft",
          agent_role: "explorer",
        },
      },
    });
    const child = { ...parent, id: "child", source, parentThreadId: "t", ancestors: ["t"] };
    expect(helperFacts(child)).toEqual({ depth: 1, nickname: "Weft", role: "explorer" });
    expect(helperFacts({ ...child, parentThreadId: "other" })).toBeUndefined();
    expect(depthOf({ source: helperSource(child, { nickname: "Warp", role: null }) })).toBe(2);
    expect([rootOf(child), rootOf(parent)]).toEqual(["t", "t"]);
  });

  it.each(["vscode", { subAgent: "review" }, { subAgent: { other: "x" } }, { custom: "x" }])(
    "are none in another source: %j",
    (source) => {
      const facts = { ...parent, source: source as never };
      expect(helperFacts(facts)).toBeUndefined();
      expect(depthOf(facts)).toBe(0);
    },
  );

  it("say whether it works", () => {
    const [idle] = after(helping(), hearHelper("child", 5, [HELPER_DONE])).helpers.open;
    expect(isAtWork(idle!)).toBe(false);
    const { start, input } = spawnHelper("child", "spawn");
    for (const more of [{ start }, { inputs: [input] }, { state: HELPER_RUNNING }])
      expect(isAtWork({ ...idle!, ...more })).toBe(true);
    const final = { completed: true, errored: true, shutdown: true, notFound: true };
    const working = { pendingInit: false, running: false, interrupted: false };
    for (const [status, expected] of Object.entries({ ...final, ...working }))
      expect(isFinal({ status: status as never, message: null }), status).toBe(expected);
  });

  it("have the permissions of its parent, with roots only if there are some", () => {
    const { settings } = newThread();
    const { cwd, approvalPolicy, approvalsReviewer, sandbox } = settings;
    const permissions = { cwd, approvalPolicy, approvalsReviewer, sandbox, permissionProfile: null };
    expect(permissionsOf(settings)).toStrictEqual(permissions);
    expect(permissionsOf({ ...settings, roots: ["/a"] })).toStrictEqual({ ...permissions, roots: ["/a"] });
  });
});
