import { afterEach, describe, expect, it, vi } from "vitest";
import { storedUnsent, storeUnsent } from "./unsent-message.ts";

const EMPTY = { text: "", mentions: new Map() };

/** The browser's storage, as far as unsent messages use it. */
function storage(): Map<string, string> {
  const values = new Map<string, string>();
  vi.stubGlobal("sessionStorage", {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => values.set(key, value),
    removeItem: (key: string) => values.delete(key),
  });
  return values;
}

afterEach(() => vi.unstubAllGlobals());

describe("an unsent message", () => {
  it("is stored with the files that it mentions", () => {
    storage();
    const unsent = { text: "See @a.ts", mentions: new Map([["@a.ts", "/work/a.ts"]]) };
    storeUnsent("thread", unsent);
    expect(storedUnsent("thread")).toEqual(unsent);
    expect(storedUnsent("another")).toEqual(EMPTY);
  });

  it("is removed from storage when its text is empty", () => {
    const values = storage();
    storeUnsent("thread", { text: "Not yet", mentions: new Map() });
    storeUnsent("thread", { text: "", mentions: new Map([["@a.ts", "/work/a.ts"]]) });
    expect(values.size).toBe(0);
  });

  it.each(["No JSON", "null", "{}", '{"text":"a","mentions":5}'])("is empty if %s is stored", (value) => {
    storage().set("thread", value);
    expect(storedUnsent("thread").mentions).toEqual(new Map());
    expect(storedUnsent("thread").text).toBe("");
  });

  it("is empty, and not stored, if the browser blocks storage", () => {
    vi.stubGlobal("sessionStorage", undefined);
    expect(storedUnsent("thread")).toEqual(EMPTY);
    expect(() => storeUnsent("thread", { text: "Not yet", mentions: new Map() })).not.toThrow();
  });
});
