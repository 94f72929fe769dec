// Replies of a mock model in the format of the Responses API: messages and tool calls.
import { type MockModel, type Reply, responses, stream } from "./mock-model.ts";

export const say = (text: string): Reply => stream(responses.stream(responses.message(text)));

/** A call of a function. */
export const callTool = (name: string, args: object, callId = "call_1"): Reply =>
  stream(responses.stream(responses.call(name, JSON.stringify(args), callId)));

/** A command, in a shell that reads no profile. */
export const run = (args: object, callId?: string): Reply =>
  callTool("exec_command", { login: false, ...args }, callId);

/** A command that asks to leave the sandbox, so that the test does not depend on this machine's sandbox. */
export const escalated = (cmd: string, more: object = {}, callId?: string): Reply =>
  run({ cmd, sandbox_permissions: "require_escalated", justification: "May I?", ...more }, callId);

/** A call of `apply_patch`. `lines`: the lines between the patch's begin and end. */
export const patchFiles = (callId: string, ...lines: readonly string[]): Reply =>
  callTool("apply_patch", { input: patchOf(...lines) }, callId);

export const patchOf = (...lines: readonly string[]): string =>
  ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n");

/** The output of the model's last call in its nth request. */
export function outputOf(model: MockModel, nth = 1): string {
  const outputs = model.asked[nth]!.body.input.filter(
    ({ type }: { type: string }) => type === "function_call_output",
  );
  return outputs.at(-1).output;
}
