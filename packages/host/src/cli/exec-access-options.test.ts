import { expect, it } from "vitest";
import { type AccessOptions, readAccess } from "./exec-access-options.ts";

it("leaves to the configuration what no option says", () => {
  expect(readAccess({})).toEqual({});
  expect(readAccess({ sandbox: "read-only" })).toEqual({ sandbox: "read-only" });
  expect(readAccess({ askForApproval: "untrusted" })).toEqual({ approvalPolicy: "untrusted" });
});

it("has presets that ask nobody", () => {
  const full = { sandbox: "workspace-write", approvalPolicy: "never" };
  expect(readAccess({ access: "read-only" })).toEqual({ sandbox: "read-only", approvalPolicy: "never" });
  expect(readAccess({ access: "full-auto" })).toEqual(full);
  expect(readAccess({ fullAuto: true })).toEqual(full);
  expect(readAccess({ fullAuto: true, access: "full-auto" })).toEqual(full);
  const everything = { sandbox: "danger-full-access", approvalPolicy: "never" };
  expect(readAccess({ access: "everything" })).toEqual(everything);
  expect(readAccess({ dangerouslyBypassApprovalsAndSandbox: true })).toEqual(everything);
});

it("has a preset that lets a model judge", () => {
  const reviewed = {
    sandbox: "workspace-write",
    approvalPolicy: "on-request",
    approvalsReviewer: "auto_review",
  };
  expect(readAccess({ access: "auto-review" })).toEqual(reviewed);
  expect(readAccess({ approveForMe: true })).toEqual(reviewed);
  expect(readAccess({ approveForMe: true, askForApproval: "on-request" })).toEqual(reviewed);
});

it("lets questions be asked for --approve and for a policy of its own", () => {
  expect(readAccess({ approve: true })).toEqual({ approvalPolicy: "on-request" });
  expect(readAccess({ approve: true, fullAuto: true })).toEqual({
    sandbox: "workspace-write",
    approvalPolicy: "on-request",
  });
  expect(readAccess({ approve: true, askForApproval: "untrusted" })).toEqual({ approvalPolicy: "untrusted" });
});

it.each<[AccessOptions, string]>([
  [{ approveForMe: true, fullAuto: true }, "--full-auto and --approve-for-me contradict each other"],
  [
    { approveForMe: true, approve: true },
    "--approve-for-me and --approve contradict each other: one has a model judge, the other approves everything",
  ],
  [
    { access: "auto-review", askForApproval: "untrusted" },
    "--access auto-review and --ask-for-approval untrusted contradict each other: nothing would be judged",
  ],
  [{ fullAuto: true, access: "everything" }, "--access everything and --full-auto contradict each other"],
  [
    { fullAuto: true, dangerouslyBypassApprovalsAndSandbox: true },
    "--full-auto and --dangerously-bypass-approvals-and-sandbox contradict each other",
  ],
  [{ fullAuto: true, sandbox: "read-only" }, "--full-auto and --sandbox read-only contradict each other"],
  [
    { approve: true, askForApproval: "never" },
    "--approve and --ask-for-approval never contradict each other: nothing would be asked",
  ],
])("refuses %j", (options, problem) => {
  expect(readAccess(options)).toBe(problem);
});
