const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;
const SAME_SIGNAL_MS = 500;

export interface Signals {
  /** Aborts at the first signal. */
  readonly first: AbortSignal;
  /** What shells expect of a program that such a signal ended; undefined while none came. */
  readonly exitCode: number | undefined;
  stop(): void;
}

/**
 * The first signal asks for the end, one that comes later wants it now. What comes at once with the first is the
 * same one: under npm a Ctrl-C arrives twice, from the terminal and from npm.
 */
export function onSignals({ told, again }: { told(): void; again(exitCode: number): void }): Signals {
  const controller = new AbortController();
  let exitCode: number | undefined;
  let firstAt = 0;
  const take = (name: NodeJS.Signals): void => {
    const code = EXIT_CODES[name as keyof typeof EXIT_CODES];
    if (exitCode !== undefined) {
      if (Date.now() - firstAt > SAME_SIGNAL_MS) again(code);
      return;
    }
    exitCode = code;
    firstAt = Date.now();
    told();
    controller.abort(new Error("interrupted"));
  };
  process.on("SIGINT", take);
  process.on("SIGTERM", take);
  return {
    first: controller.signal,
    get exitCode() {
      return exitCode;
    },
    stop() {
      process.off("SIGINT", take);
      process.off("SIGTERM", take);
    },
  };
}
