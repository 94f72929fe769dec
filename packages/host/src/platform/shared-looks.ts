const running = new Map<string, Promise<unknown>>();
const next = new Map<string, Promise<unknown>>();

/** Looks once for all who ask while a look is under way: what they get was looked up after they asked. */
export function shared<T>(what: string, look: () => Promise<T>): Promise<T> {
  let waiting = next.get(what) as Promise<T> | undefined;
  if (waiting === undefined) {
    waiting = (running.get(what) ?? Promise.resolve())
      .catch(() => {})
      .then(nextTurn)
      .then(() => {
        next.delete(what);
        const result = look().finally(() => {
          if (running.get(what) === result) running.delete(what);
        });
        running.set(what, result);
        return result;
      });
    next.set(what, waiting);
  }
  return waiting;
}

/** Others who come in the same turn of the event loop share the look. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
