const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

export interface Signals {
  /** Aborts at the first signal. */
  readonly first: AbortSignal;
  /** What shells expect of a program that such a signal ended; undefined while none came. */
  readonly exitCode: number | undefined;
  stop(): void;
}

/** The first Ctrl-C asks for an end, the second is one. */
export function onSignals(told: () => void): Signals {
  const controller = new AbortController();
  let exitCode: number | undefined;
  const take = (name: NodeJS.Signals) => {
    const code = EXIT_CODES[name as keyof typeof EXIT_CODES];
    if (exitCode !== undefined) process.exit(code);
    exitCode = code;
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
