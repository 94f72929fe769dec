/** Values that the browser did not store, because its storage is blocked or full. They last as long as the page. */
const unstored = new Map<string, string>();

/** The value that the browser has stored under this key; null if there is none. */
export function storedValue(key: string): string | null {
  try {
    return unstored.get(key) ?? localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Stores a value in the browser, or else in the page. Null removes it. */
export function storeValue(key: string, value: string | null): void {
  unstored.delete(key);
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    if (value !== null) unstored.set(key, value);
  }
}
