// Runs the tool of a call: checks the arguments, applies the time limit, and turns the output or the error into a
// result.
import type { Call } from "./call.ts";
import type { PreparedInputSchema } from "./input-schema.ts";
import { errorText } from "./log.ts";
import { type Platform, pause, randomToken } from "./platform.ts";
import type { TokenBucket } from "./rate-limit.ts";
import type { ThreadScope } from "./thread-scope.ts";
import type { AbortReason, Tool } from "./tool.ts";
import { createToolContext, type ToolContextDeps } from "./tool-context.ts";
import { failure, type Outcome, outcomeOf, ToolError } from "./tool-result.ts";

/** A tool with the check of its arguments. */
export interface ReadyTool {
  readonly tool: Tool;
  readonly input: PreparedInputSchema;
}

export interface RunToolDeps extends ToolContextDeps {
  readonly platform: Platform;
  readonly tools: ReadonlyMap<string, ReadyTool>;
  readonly bucket: TokenBucket;
  readonly timeoutMs: number;
}

/** Time for an aborted tool to return a result of its own. */
const ABORT_MS = 5000;

const ABORT_TEXTS: { readonly [R in AbortReason]: string } = {
  cancelled: "The call was cancelled.",
  closed: "The thread was closed.",
  timedOut: "The tool did not finish in its time, and was stopped.",
  shutdown: "The tool server was stopped. Whether the call has had an effect is not known.",
};

/** The outcome of a tool run. A failure (`ok: false`) has an error text for the model as its outcome. */
export interface ToolRun {
  readonly ok: boolean;
  readonly outcome: Outcome;
}

const failed = (words: string): ToolRun => ({ ok: false, outcome: failure(words) });

export async function runTool(deps: RunToolDeps, call: Call, scope: ThreadScope): Promise<ToolRun> {
  const { operation, arguments: args } = call.invocation;
  const ready = deps.tools.get(operation);
  if (ready === undefined) {
    const known = [...deps.tools.keys()].slice(0, 20).join(", ");
    return failed(`There is no operation ${JSON.stringify(operation)}. There are: ${known}.`);
  }
  const wait = deps.bucket.take();
  if (wait > 0) return failed(`Too many calls. Try again in ${Math.ceil(wait / 1000)} s.`);
  try {
    const checked = await ready.input.check(args);
    if ("problem" in checked) return failed(`The arguments do not fit: ${checked.problem}`);
    call.startClock(ready.tool.timeoutMs ?? deps.timeoutMs);
    const context = createToolContext(deps, call, scope);
    const running = (async () => ready.tool.run(checked.args as never, context))();
    const output = await untilAborted(deps.platform, call, running);
    return { ok: true, outcome: outcomeOf(output, call.display) };
  } catch (error) {
    return failed(failureText(deps, call, error));
  } finally {
    call.stopClock();
  }
}

/** Settles with the tool, or rejects some time after the call was aborted if the tool has not settled by then. */
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

function failureText({ log, platform }: RunToolDeps, call: Call, error: unknown): string {
  if (call.abortReason !== undefined) return ABORT_TEXTS[call.abortReason];
  if (error instanceof ToolError) return error.message;
  // The error may contain paths, host names or secrets, so only the log gets it; the model gets a reference to the
  // entry.
  const reference = randomToken(platform, 6);
  const { operation, id, group_id } = call.invocation;
  log({
    level: "error",
    says: "a tool failed",
    operation,
    id,
    thread: group_id,
    reference,
    error: errorText(error),
  });
  return `The tool failed with an internal error; calling it again may not help. Reference: ${reference}`;
}
