import { describe, expect, it } from "vitest";
import { MemoryCredentials } from "../../../../test/support/oauth/memory-credentials.ts";
import { nodePlatform } from "../platform/node.ts";
import { Seals } from "./journal-secret-sealing.ts";

const { ids } = nodePlatform();

describe("a seal", () => {
  it("hides a text, and is opened by every host with the same store", async () => {
    const store = new MemoryCredentials();
    const [one, other] = [new Seals({ store, ids }), new Seals({ store, ids })];
    const [sealed, again] = await Promise.all([one.seal("Bearer planted"), other.seal("Bearer planted")]);
    expect(sealed).not.toContain("planted");
    expect(Buffer.from(sealed, "base64url").toString("latin1")).not.toContain("planted");
    expect(again).toBe(sealed);
    const third = new Seals({ store, ids });
    expect(third.open(sealed)).toBeUndefined();
    await third.ready();
    expect(third.open(sealed)).toBe("Bearer planted");
  });

  it("is opened once: what looks like a seal is sealed like any other text", async () => {
    const seals = new Seals({ store: new MemoryCredentials(), ids });
    const inner = await seals.seal("planted");
    expect(seals.open(await seals.seal(inner))).toBe(inner);
  });

  it("gives other texts back, and opens none that was changed or is of another key", async () => {
    const seals = new Seals({ store: new MemoryCredentials(), ids });
    const sealed = await seals.seal("planted");
    expect(seals.open("in the clear")).toBe("in the clear");
    expect(seals.open("sealed:1:")).toBeUndefined();
    const changed = Buffer.from(sealed.slice("sealed:1:".length), "base64url");
    changed[14]! ^= 1;
    expect(seals.open(`sealed:1:${changed.toString("base64url")}`)).toBeUndefined();
    const strange = new Seals({ store: new MemoryCredentials(), ids });
    await strange.ready();
    expect(strange.open(sealed)).toBeUndefined();
  });
});
