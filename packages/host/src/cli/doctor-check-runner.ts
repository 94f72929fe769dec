import { messageOf } from "../errors.ts";

/** The result of one check. */
export interface Verdict {
  readonly works: boolean;
  /** A few words for the user: a version, a path, or the problem. */
  readonly found: string;
  /** One sentence on what the user can do, if there is something to do. */
  readonly advice?: string;
}

export interface Check {
  readonly name: string;
  /** Whether a host cannot run without this. If so, a problem is reported as `failed`, otherwise as `warning`. */
  readonly needed: boolean;
  /** Time limit of this check, instead of the default one. */
  readonly deadlineMs?: number;
  look(signal: AbortSignal): Promise<Verdict>;
}

export interface Finding {
  readonly name: string;
  readonly status: "ok" | "warning" | "failed";
  readonly found: string;
  readonly advice?: string;
}

/** Default time limit of a check. */
const DEADLINE_MS = 3_000;

/**
 * Runs all checks in parallel. Returns the findings in the order of the checks. A check that throws or hangs gives a
 * finding, too.
 */
export function checkAll(checks: readonly Check[], deadlineMs = DEADLINE_MS): Promise<readonly Finding[]> {
  return Promise.all(
    checks.map(async ({ name, needed, look, deadlineMs: own }) => {
      const { works, ...rest } = await within(own ?? deadlineMs, look);
      return { name, status: works ? "ok" : needed ? "failed" : "warning", ...rest } as const;
    }),
  );
}

async function within(ms: number, look: Check["look"]): Promise<Verdict> {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<Verdict>((resolve) => {
    timer = setTimeout(() => {
      resolve({
        works: false,
        found: `no answer within ${ms / 1000} s`,
        advice: "Try again; if it stays so, this part of the machine hangs.",
      });
      controller.abort();
    }, ms);
  });
  const looked = look(controller.signal).catch((cause: unknown) => ({
    works: false,
    found: messageOf(cause),
    advice: "This should not happen; please report it.",
  }));
  try {
    return await Promise.race([looked, late]);
  } finally {
    clearTimeout(timer);
  }
}
