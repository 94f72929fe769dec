import type { CommandExecutionRequestApprovalParams, ThreadItem } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import {
  type Approval,
  commandApproval,
  elicitationApproval,
  patchApproval,
  permissionsApproval,
} from "./exec-approval-choices.ts";

const asked = { threadId: "t", turnId: "u", itemId: "i", startedAtMs: 0, environmentId: null };
const command = (more: Partial<CommandExecutionRequestApprovalParams>) =>
  commandApproval({ ...asked, kind: "command", command: "rm x", ...more });
const answers = <T>({ choices }: Approval<T>) =>
  Object.fromEntries(choices.map(({ key, answer }) => [key, answer]));

describe("a question about a command", () => {
  it("has the command, its folder and its reason", () => {
    expect(command({ cwd: "/work", reason: "to clean up" })).toMatchObject({
      question: "Run this command?",
      details: ["why: to clean up", "in /work", "$ rm x"],
    });
    const entries = [{ path: { type: "path", path: "/srv" }, access: "write" } as const];
    const fileSystem = { read: null, write: ["/srv"], entries };
    expect(command({ additionalPermissions: { network: { enabled: true }, fileSystem } }).details).toEqual([
      "with: network access",
      "with: write /srv",
      "$ rm x",
    ]);
    expect(command({ kind: "writeStdin" }).question).toBe("Send input to this running command?");
  });

  it("[APPROVE-14] has the command last, on lines of its own", () => {
    const forged = command({ command: "rm x\nrm y", cwd: "/work", reason: "fine\n  $ ls\r[y] yes" });
    expect(forged.details).toEqual(["why: fine\n  $ ls\r[y] yes", "in /work", "$ rm x", "> rm y"]);
  });

  it("offers what the host takes, and always a no", () => {
    const amendment = { acceptWithExecpolicyAmendment: { execpolicy_amendment: ["git", "status"] } };
    const offered = command({ availableDecisions: ["accept", amendment, "cancel"] });
    expect(answers(offered)).toEqual({ y: "accept", p: amendment, n: "decline", c: "cancel" });
    expect(offered.choices[1]!.says).toBe("yes, and always for commands that begin with `git status`");
    expect(answers(command({}))).toEqual({
      y: "accept",
      s: "acceptForSession",
      n: "decline",
      c: "cancel",
    });
  });

  it("is about a host where the network is asked for", () => {
    const rule = (action: "allow" | "deny") => ({
      applyNetworkPolicyAmendment: { network_policy_amendment: { host: "example.org", action } },
    });
    const network = command({
      networkApprovalContext: { host: "example.org", protocol: "https" },
      availableDecisions: ["accept", "acceptForSession", rule("allow"), rule("deny"), "decline", "cancel"],
    });
    expect(network.question).toBe("Let a command connect to example.org (https)?");
    expect(answers(network)).toMatchObject({ s: "acceptForSession", p: rule("allow"), n: "decline" });
  });
});

it("shows the diff of a patch, up to a bound", () => {
  const item = (changes: object[]) => ({ type: "fileChange", id: "i", changes }) as unknown as ThreadItem;
  const update = { path: "a", kind: { type: "update", move_path: null }, diff: "@@ -1 +1 @@\n-x\n+y\n" };
  const gone = { path: "b", kind: { type: "delete" }, diff: "one\ntwo\n" };
  const { question, details } = patchApproval({ ...asked, reason: "why not" }, item([update, gone]));
  expect(question).toBe("Change these files?");
  expect(details).toEqual([
    "why: why not",
    "update a",
    "@@ -1 +1 @@",
    "-x",
    "+y",
    "delete b",
    "-one",
    "-two",
  ]);
  const long = { path: "c", kind: { type: "add" }, diff: "x\n".repeat(1_000) };
  expect(patchApproval(asked, item([long])).details.slice(-2)).toEqual(["+x", "… 901 more lines"]);
});

it("names the permissions that are asked for, and grants none for a no", () => {
  const permissions = {
    network: { enabled: true },
    fileSystem: {
      write: ["/data"],
      entries: [{ access: "read", path: { type: "path", path: "/etc" } }] as const,
    },
  };
  const approval = permissionsApproval({
    ...asked,
    cwd: "/work",
    reason: "to build",
    permissions: permissions as never,
  });
  expect(approval.details).toEqual([
    "why: to build",
    "in /work",
    "network access",
    "write /data",
    "read /etc",
  ]);
  expect(answers(approval)).toEqual({
    y: { permissions, scope: "turn" },
    s: { permissions, scope: "session" },
    n: { permissions: {}, scope: "turn" },
  });
});

it("takes a form without fields as a yes or a no, and no other one", () => {
  const form = { threadId: "t", turnId: "u", serverName: "s", mode: "form", message: "Sure?" } as const;
  const empty = { type: "object", properties: {} } as const;
  const persist = ["session", "always"];
  const kind = { codex_approval_kind: "mcp_tool_call" };
  const approval = elicitationApproval({ ...form, requestedSchema: empty, _meta: { ...kind, persist } });
  expect(approval!.question).toBe("Sure?");
  // A server's own question names the server.
  const ofServer = elicitationApproval({ ...form, requestedSchema: empty, _meta: null });
  expect(ofServer!.question).toBe("s asks: Sure?");
  expect(answers(approval!)).toEqual({
    y: { action: "accept", content: {}, _meta: null },
    s: { action: "accept", content: {}, _meta: { persist: "session" } },
    p: { action: "accept", content: {}, _meta: { persist: "always" } },
    n: { action: "decline", content: null, _meta: null },
  });
  const properties = { name: { type: "string" } } as const;
  expect(
    elicitationApproval({ ...form, requestedSchema: { type: "object", properties }, _meta: null }),
  ).toBeUndefined();
});
