import { afterEach, describe, expect, it, vi } from "vitest";
import { storedValue, storeValue } from "./stored-value.ts";

const KEY = "bobbin-test";

afterEach(() => {
  storeValue(KEY, null);
  vi.unstubAllGlobals();
});

function storage(setItem: (key: string, value: string) => void, values: ReadonlyMap<string, string>): void {
  const getItem = (key: string) => values.get(key) ?? null;
  vi.stubGlobal("localStorage", { getItem, setItem, removeItem: () => {} });
}

describe("a value of the page", () => {
  it("is stored by the browser", () => {
    const values = new Map<string, string>();
    storage((key, value) => values.set(key, value), values);
    expect(storedValue(KEY)).toBeNull();
    storeValue(KEY, "one");
    expect(values.get(KEY)).toBe("one");
    values.set(KEY, "of another window");
    expect(storedValue(KEY)).toBe("of another window");
  });

  it("lasts as long as the page if the browser blocks storage", () => {
    vi.stubGlobal("localStorage", undefined);
    expect(storedValue(KEY)).toBeNull();
    storeValue(KEY, "one");
    expect(storedValue(KEY)).toBe("one");
    storeValue(KEY, null);
    expect(storedValue(KEY)).toBeNull();
  });

  it("replaces the stored one if the browser's storage is full", () => {
    storage(
      () => {
        throw new DOMException("full", "QuotaExceededError");
      },
      new Map([[KEY, "old"]]),
    );
    expect(storedValue(KEY)).toBe("old");
    storeValue(KEY, "new");
    expect(storedValue(KEY)).toBe("new");
  });
});
