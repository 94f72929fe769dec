// From the arguments of a call to what it came to.
import type { Call } from "./call.ts";
import { type ContextGround, contextOf } from "./context.ts";
import { told } from "./log.ts";
import { type Platform, pause, randomToken } from "./platform.ts";
import type { Bucket } from "./rate.ts";
import { failure, type Outcome, outcomeOf, ToolError } from "./result.ts";
import type { Input } from "./schema.ts";
import type { ThreadScope } from "./thread-scope.ts";
import type { AbortReason, Tool } from "./tool.ts";

export interface ReadyTool {
  readonly tool: Tool;
  readonly input: Input;
}

export interface PerformGround extends ContextGround {
  readonly platform: Platform;
  readonly tools: ReadonlyMap<string, ReadyTool>;
  readonly bucket: Bucket;
  readonly timeoutMs: number;
}

/** How long a call that was aborted may take to say something itself. */
const ABORT_MS = 5000;

const WORDS: { readonly [R in AbortReason]: string } = {
  cancelled: "The call was cancelled.",
  closed: "The thread was closed.",
  timedOut: "The tool did not finish in its time, and was stopped.",
  shutdown: "The tool server was stopped. Whether the call has had an effect is not known.",
};

/** What came of it, good or bad: everything that goes wrong is told in words. */
export interface Performed {
  readonly ok: boolean;
  readonly outcome: Outcome;
}

const failed = (words: string): Performed => ({ ok: false, outcome: failure(words) });

export async function perform(ground: PerformGround, call: Call, scope: ThreadScope): Promise<Performed> {
  const { operation, arguments: given } = call.invocation;
  const ready = ground.tools.get(operation);
  if (ready === undefined) {
    const known = [...ground.tools.keys()].slice(0, 20).join(", ");
    return failed(`There is no operation ${JSON.stringify(operation)}. There are: ${known}.`);
  }
  const wait = ground.bucket.take();
  if (wait > 0) return failed(`Too many calls. Try again in ${Math.ceil(wait / 1000)} s.`);
  try {
    const checked = await ready.input.check(given);
    if ("problem" in checked) return failed(`The arguments do not fit: ${checked.problem}`);
    call.startClock(ready.tool.timeoutMs ?? ground.timeoutMs);
    const context = contextOf(ground, call, scope);
    const running = (async () => ready.tool.run(checked.args as never, context))();
    const output = await untilAborted(ground.platform, call, running);
    return { ok: true, outcome: outcomeOf(output, call.display) };
  } catch (error) {
    return failed(wordsFor(ground, call, error));
  } finally {
    call.stopClock();
  }
}

/** What runs may still say something after it was told to stop, but not for ever. */
async function untilAborted<T>(platform: Platform, call: Call, running: Promise<T>): Promise<T> {
  const done = new AbortController();
  const { signal } = call;
  let late = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    late = () => void pause(platform, ABORT_MS, done.signal).then(() => reject(signal.reason));
    if (signal.aborted) late();
    else signal.addEventListener("abort", late, { once: true });
  });
  try {
    return await Promise.race([running, aborted]);
  } finally {
    signal.removeEventListener("abort", late);
    done.abort();
  }
}

function wordsFor({ log, platform }: PerformGround, call: Call, error: unknown): string {
  if (call.abortReason !== undefined) return WORDS[call.abortReason];
  if (error instanceof ToolError) return error.message;
  // It may have paths, names of machines or secrets in it. The log has them, under a reference.
  const reference = randomToken(platform, 6);
  const { operation, id, group_id } = call.invocation;
  log({
    level: "error",
    says: "a tool failed",
    operation,
    id,
    thread: group_id,
    reference,
    error: told(error),
  });
  return `The tool failed for a reason of its own; trying the same again may not help. Reference: ${reference}`;
}
