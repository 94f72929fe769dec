const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;
const SAME_SIGNAL_MS = 500;

export interface Signals {
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly first: AbortSignal;
  /** The conventional exit code for the received signal; undefined if none was received. */
  readonly exitCode: number | undefined;
  stop(): void;
}

/**
 * Handles SIGINT and SIGTERM: the first one calls `onFirst`, a later one calls `onSecond`. A second signal within
 * SAME_SIGNAL_MS is ignored: under npm one Ctrl-C arrives twice, from the terminal and from npm.
 */
export function onStopSignals({
  onFirst,
  onSecond,
}: {
  onFirst(): void;
  onSecond(exitCode: number): void;
}): Signals {
  const controller = new AbortController();
  let exitCode: number | undefined;
  let firstAt = 0;
  const take = (name: NodeJS.Signals): void => {
    const code = EXIT_CODES[name as keyof typeof EXIT_CODES];
    if (exitCode !== undefined) {
      if (Date.now() - firstAt > SAME_SIGNAL_MS) onSecond(code);
      return;
    }
    exitCode = code;
    firstAt = Date.now();
    onFirst();
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
