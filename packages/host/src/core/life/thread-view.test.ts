import { expect, it } from "vitest";
import { after, newThread } from "../../../../../test/support/test-thread.ts";
import { modeView, settingsView, threadView, workspaceRoots } from "./thread-view.ts";

const place = { path: "/p", archived: false };

it("shows what only a loaded thread has while it is loaded", () => {
  const thread = newThread();
  expect(threadView(thread, place)).toMatchObject({
    id: "t",
    path: "/p",
    canAcceptDirectInput: true,
    environments: [{ environmentId: "local", cwd: "/work", runtimeWorkspaceRoots: ["/work"] }],
    sectionEnteredAt: null,
    agentNickname: null,
  });
  const closed = after(thread, { kind: "close", at: 5, reason: "requested" });
  expect(threadView(closed, place)).toMatchObject({
    canAcceptDirectInput: null,
    environments: null,
    status: { type: "notLoaded" },
  });
});

it("shows settings that wait for the next load, and has no field for them otherwise", () => {
  const pendingLoad = { baseInstructions: "be brief" };
  const view = threadView({ ...newThread(), pendingLoad } as ReturnType<typeof newThread>, place);
  expect(view).toMatchObject({ pendingLoadSettings: pendingLoad });
  expect(view).not.toHaveProperty("baseInstructions");
  expect(threadView(newThread(), place)).not.toHaveProperty("pendingLoadSettings");
});

it("shows the settings of a thread as clients know them", () => {
  const { settings } = newThread();
  expect(settingsView(settings)).toMatchObject({ activePermissionProfile: null, cwd: "/work", model: "m" });
  expect(settingsView({ ...settings, permissionProfile: "strict" }).activePermissionProfile).toEqual({
    id: "strict",
    extends: null,
  });
  expect(workspaceRoots({ ...settings, roots: ["/a", "/b"] })).toEqual(["/a", "/b"]);
  expect(modeView(settings).mode).toBe("default");
});
