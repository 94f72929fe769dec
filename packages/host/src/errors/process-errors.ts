/** Errors of `process/*` and `command/exec`. */
export const PROCESS_ERRORS = {
  emptyCommand: { wire: -32600, retryable: false, text: () => "command must not be empty" },
  processHandleTaken: {
    wire: -32600,
    retryable: false,
    text: (handle: string) => `duplicate active process handle: ${JSON.stringify(handle)}`,
  },
  tooManyProcesses: {
    wire: -32600,
    retryable: true,
    text: (limit: number, whose: string) =>
      `${limit} programs ${whose} are running already; end one of them first`,
  },
  processNotFound: {
    wire: -32600,
    retryable: false,
    text: (handle: string) => `no active process for process handle ${JSON.stringify(handle)}`,
  },
  processNotStarted: {
    wire: -32603,
    retryable: false,
    text: (program: string, why: string) => `failed to spawn process ${program}: ${why}`,
  },
  processInputClosed: {
    wire: -32600,
    retryable: false,
    text: (why: string) => `the process takes no input: ${why}`,
  },
  processIdTaken: {
    wire: -32600,
    retryable: false,
    text: (id: string) => `duplicate active command/exec process id: ${JSON.stringify(id)}`,
  },
  processIdRequired: {
    wire: -32600,
    retryable: false,
    text: () => "command/exec tty or streaming requires a client-supplied processId",
  },
  commandNotFound: {
    wire: -32600,
    retryable: false,
    text: (id: string) => `no active command/exec for process id ${JSON.stringify(id)}`,
  },
  sandboxUnavailable: {
    wire: -32603,
    retryable: false,
    text: (reason: string, advice: string) =>
      `The command cannot be confined on this machine: ${reason}. ${advice}`,
  },
} as const;
