import { messageOf } from "../errors.ts";

/** What a look at one thing found. */
export interface Verdict {
  readonly works: boolean;
  /** A few words: a version, a place, what is wrong. */
  readonly found: string;
  /** One sentence on what to do; only where something is to be done. */
  readonly advice?: string;
}

export interface Check {
  readonly name: string;
  /** A host cannot run without it. */
  readonly needed: boolean;
  look(signal: AbortSignal): Promise<Verdict>;
}

export interface Finding {
  readonly name: string;
  readonly status: "ok" | "warning" | "failed";
  readonly found: string;
  readonly advice?: string;
}

/** No look takes longer. */
const DEADLINE_MS = 3_000;

/** All at once, in the order given. A look that throws or hangs is a finding like any other. */
export function checkAll(checks: readonly Check[], deadlineMs = DEADLINE_MS): Promise<readonly Finding[]> {
  return Promise.all(
    checks.map(async ({ name, needed, look }) => {
      const { works, ...rest } = await within(deadlineMs, look);
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
