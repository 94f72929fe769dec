// What a mock model says and calls, on the `responses` wire.
import { type MockModel, type Reply, responses, stream } from "./mock-model.ts";

export const say = (text: string): Reply => stream(responses.stream(responses.message(text)));

/** A call of a function. */
export const callTool = (name: string, args: object, callId = "call_1"): Reply =>
  stream(responses.stream(responses.call(name, JSON.stringify(args), callId)));

/** A command, in a shell that reads no profile. */
export const run = (args: object, callId?: string): Reply =>
  callTool("exec_command", { login: false, ...args }, callId);

/** A command that wants to leave the sandbox: what follows does not depend on this machine's sandbox. */
export const escalated = (cmd: string, more: object = {}, callId?: string): Reply =>
  run({ cmd, sandbox_permissions: "require_escalated", justification: "May I?", ...more }, callId);

/** A patch; the lines are those between its begin and its end. */
export const patchFiles = (callId: string, ...lines: readonly string[]): Reply =>
  callTool("apply_patch", { input: patchOf(...lines) }, callId);

export const patchOf = (...lines: readonly string[]): string =>
  ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n");

/** What the model was given for its last call, with its nth request. */
export function outputOf(model: MockModel, nth = 1): string {
  const outputs = model.asked[nth]!.body.input.filter(
    ({ type }: { type: string }) => type === "function_call_output",
  );
  return outputs.at(-1).output;
}
