const running = new Map<string, Promise<unknown>>();
const next = new Map<string, Promise<unknown>>();

/**
 * Shares lookups of the same key. All callers that ask while one lookup runs get the result of the next one, so that no
 * caller gets a result that was looked up before its call.
 */
export function sharedLookup<T>(key: string, lookUp: () => Promise<T>): Promise<T> {
  let waiting = next.get(key) as Promise<T> | undefined;
  if (waiting === undefined) {
    waiting = (running.get(key) ?? Promise.resolve())
      .catch(() => {})
      .then(nextTurn)
      .then(() => {
        next.delete(key);
        const result = lookUp().finally(() => {
          if (running.get(key) === result) running.delete(key);
        });
        running.set(key, result);
        return result;
      });
    next.set(key, waiting);
  }
  return waiting;
}

/** Resolves in the next turn of the event loop, so that callers of the same turn share a lookup. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
