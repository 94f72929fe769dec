import type { ThreadItem } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import type { RequestAnswer } from "../../core/requests/records.ts";
import type { ThreadState } from "../../core/state.ts";
import type { Invocation, Step, Tool } from "../tool.ts";
import { type ApprovalQuestion, withApproval } from "./tool-approval.ts";

const COMMAND: ApprovalQuestion["ask"] = {
  method: "item/commandExecution/requestApproval",
  params: {
    threadId: "t",
    turnId: "u",
    itemId: "c",
    kind: "command",
    startedAtMs: 1,
    environmentId: null,
    command: "ls",
  },
};
const FORM: ApprovalQuestion["ask"] = {
  method: "mcpServer/elicitation/request",
  params: {
    threadId: "t",
    turnId: "u",
    serverName: "s",
    mode: "form",
    message: "May it?",
    requestedSchema: { type: "object", properties: {} },
    _meta: null,
  },
};

const DISPATCH: Step = { kind: "dispatch", again: false };
const tool: Tool = { name: "act", namespace: null, spec: null, begin: () => DISPATCH };

function invocation(grants: readonly string[] = [], approvalPolicy = "on-request"): Invocation {
  const settings = { approvalPolicy, sandbox: { type: "readOnly", networkAccess: false } };
  const call = { callId: "c", name: "act", namespace: null, arguments: "{}", kind: "function" } as const;
  return {
    thread: { grants, settings } as unknown as ThreadState,
    turnId: "u",
    call,
    args: {},
    startedAt: 1,
    now: 1,
  };
}

const heard = (asking: ApprovalQuestion["ask"], answer: RequestAnswer) =>
  withApproval(tool, () => ({ ask: asking, key: "act" })).heard!(
    invocation(),
    { name: "approval", method: asking.method },
    answer,
  );
const result = (value: unknown): RequestAnswer => ({ kind: "result", result: value });

describe("a call that has to be approved", () => {
  it("is asked for first, unless it needs no asking or was agreed to for good", async () => {
    const asked = withApproval(tool, () => ({ ask: COMMAND, key: "act" }));
    expect(await asked.begin(invocation())).toEqual({ kind: "ask", ask: COMMAND, question: "approval" });
    expect(await asked.begin(invocation(["act"]))).toEqual(DISPATCH);
    expect(await withApproval(tool, () => undefined).begin(invocation())).toEqual(DISPATCH);
  });

  it("begins when the user accepts, and is remembered when that was for the session", async () => {
    expect(await heard(COMMAND, result({ decision: "accept" }))).toEqual(DISPATCH);
    expect(await heard(FORM, result({ action: "accept", content: {} }))).toEqual(DISPATCH);
    const granted = { ...DISPATCH, grant: "act" };
    expect(await heard(COMMAND, result({ decision: "acceptForSession" }))).toEqual(granted);
    expect(await heard(FORM, result({ action: "accept", _meta: { persist: "session" } }))).toEqual(granted);
  });

  it("is refused where nobody may be asked, in words for the model", async () => {
    const asked = withApproval(tool, () => ({ ask: COMMAND, key: "act" }));
    expect(await asked.begin(invocation([], "never"))).toEqual({
      kind: "settle",
      output: "This call needs the user's approval, and this thread is set to ask for none.",
      success: false,
    });
    expect(await asked.begin(invocation(["act"], "never"))).toEqual(DISPATCH);
  });

  it("is declined by whatever is not plainly a yes, and the model is told", async () => {
    const noes: [ApprovalQuestion["ask"], RequestAnswer][] = [
      [COMMAND, result({ decision: "decline" })],
      [COMMAND, result({ decision: { acceptWithExecpolicyAmendment: { execpolicy_amendment: [] } } })],
      [COMMAND, result({ decision: { acceptWithExecpolicyAmendment: { execpolicy_amendment: ["ls"] } } })],
      [
        COMMAND,
        result({
          decision: {
            applyNetworkPolicyAmendment: {
              network_policy_amendment: { host: "example.org", action: "allow" },
            },
          },
        }),
      ],
      [COMMAND, { kind: "expired" }],
      [COMMAND, { kind: "failed", message: "odd" }],
      [FORM, result({ action: "decline" })],
    ];
    for (const [asking, answer] of noes) {
      expect(await heard(asking, answer)).toMatchObject({ kind: "settle", success: false });
    }
  });

  it("fails alone when the user cancels an elicitation", async () => {
    expect(await heard(FORM, result({ action: "cancel" }))).toEqual({
      kind: "settle",
      output: "The call was not made: the user cancelled it. Ask what to do instead.",
      success: false,
    });
  });

  it("is shown before it is asked about, and as failed when it is not made", async () => {
    const item = (status: "inProgress" | "failed", message: string | null) =>
      ({ type: "mcpToolCall", id: "c", status, error: message }) as unknown as ThreadItem;
    const asked = withApproval(tool, () => ({ ask: FORM, key: "act" }), {
      started: () => item("inProgress", null),
      failed: (_, reason) => item("failed", reason),
    });
    expect(await asked.begin(invocation())).toMatchObject({ kind: "ask", item: item("inProgress", null) });
    const question = { name: "approval", method: FORM.method };
    expect(await asked.heard!(invocation(), question, { kind: "expired" })).toMatchObject({
      kind: "settle",
      item: item(
        "failed",
        "The call was not made: nobody was there to allow it. Go on without it, and say what is left to do.",
      ),
    });
  });

  it("ends the turn when the user cancels", async () => {
    expect(await heard(COMMAND, result({ decision: "cancel" }))).toEqual({ kind: "interrupt" });
  });

  it("leaves the tool's own questions to the tool", async () => {
    const answer = result({ contentItems: [], success: true });
    const own: Tool = { ...tool, heard: () => ({ kind: "settle", output: "mine", success: true }) };
    const asked = withApproval(own, () => ({ ask: COMMAND, key: "act" }));
    const other = { name: undefined, method: "item/tool/call" } as const;
    expect(await asked.heard!(invocation(), other, answer)).toMatchObject({ output: "mine" });
    // Of the same kind as the approval, under another name.
    const more = { name: "network", method: COMMAND.method };
    expect(await asked.heard!(invocation(), more, result({ decision: "accept" }))).toMatchObject({
      output: "mine",
    });
  });

  it("is known as approved where a journal has no names of questions", async () => {
    const before = { name: undefined, method: COMMAND.method };
    const asked = withApproval(tool, () => ({ ask: COMMAND, key: "act" }));
    expect(await asked.heard!(invocation(), before, result({ decision: "accept" }))).toEqual(DISPATCH);
  });
});
