import { expect, it } from "vitest";
import { PEER_VERSION as SHOWN } from "../../packages/host/src/version.ts";
import { PEER_VERSION as PINNED } from "./peer-schema/peer-binary.ts";

it("shows clients the version of the Codex CLI that the tests compare with", () => {
  expect(SHOWN).toBe(PINNED);
});
