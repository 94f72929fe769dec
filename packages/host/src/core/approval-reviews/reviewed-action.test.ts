import { describe, expect, it } from "vitest";
import { newThread } from "../../../../../test/support/test-thread.ts";
import type { Ask } from "../requests/records.ts";
import type { ThreadState } from "../state.ts";
import type { ToolCall } from "../turn/records.ts";
import { reviewedBy } from "./reviewed-action.ts";

const call: ToolCall = { callId: "call", name: "tool", namespace: null, arguments: "{}", kind: "function" };
const ask = (method: Ask["method"], params: object): Ask =>
  ({ method, params: { threadId: "t", turnId: "turn-1", itemId: "item", ...params } }) as Ask;
const action = (asked: Ask, more: { call?: ToolCall; item?: object; terminals?: readonly object[] } = {}) =>
  reviewedBy(
    { ...newThread(), terminals: (more.terminals ?? []) as ThreadState["terminals"] },
    more.call ?? call,
    asked,
    more.item as never,
  );

describe("what a reviewer is asked about", () => {
  const command = (params: object) => ask("item/commandExecution/requestApproval", params);

  it("is a command in its folder, or in the thread's", () => {
    const unified = { type: "command", source: "unifiedExec" };
    expect(action(command({ command: "make", cwd: "/there" }))).toEqual({
      targetItemId: "item",
      action: { ...unified, command: "make", cwd: "/there" },
    });
    expect(action(command({ command: null }))?.action).toEqual({ ...unified, command: "", cwd: "/work" });
  });

  it("is text for a terminal, with the process that gets it", () => {
    const asked = command({ kind: "writeStdin", approvalId: "approval" });
    const terminals = [
      { item: { id: "other" }, processId: "1" },
      { item: { id: "item" }, processId: "2" },
    ];
    const writes = { ...call, arguments: JSON.stringify({ chars: "yes\n" }) };
    expect(action(asked, { call: writes, terminals })).toEqual({
      targetItemId: "item",
      action: { type: "writeStdin", approvalId: "approval", processId: "2", stdin: "yes\n", cwd: "/work" },
    });
    const plain = command({ kind: "writeStdin" });
    expect(action(plain)?.action).toMatchObject({ approvalId: "call", processId: "", stdin: "" });
    for (const text of ["no JSON", '{"chars":1}'])
      expect(action(plain, { call: { ...call, arguments: text } })?.action).toMatchObject({ stdin: "" });
  });

  it("is a patch, with both names of a file that is moved", () => {
    const item = {
      type: "fileChange",
      changes: [
        { path: "a", kind: { type: "add" } },
        { path: "b", kind: { type: "update", move_path: null } },
        { path: "c", kind: { type: "update", move_path: "d" } },
        { path: "e", kind: { type: "delete" } },
      ],
    };
    const asked = ask("item/fileChange/requestApproval", {});
    expect(action(asked, { item })).toEqual({
      targetItemId: "item",
      action: { type: "applyPatch", cwd: "/work", files: ["a", "b", "c", "d", "e"] },
    });
    expect(action(asked)?.action).toMatchObject({ files: [] });
  });

  it("is a permission, with its reason", () => {
    const permissions = { network: { enabled: true }, fileSystem: null };
    expect(action(ask("item/permissions/requestApproval", { permissions, reason: "to fetch" }))).toEqual({
      targetItemId: "item",
      action: { type: "requestPermissions", reason: "to fetch", permissions },
    });
  });

  it("is a tool of an MCP server by the server's name for it, and nothing that a server asks by itself", () => {
    const asks = (_meta: unknown) => ask("mcpServer/elicitation/request", { serverName: "files", _meta });
    const approval = asks({ codex_approval_kind: "mcp_tool_call", tool_title: "Read" });
    const connector = { connectorId: null, connectorName: null };
    expect(action(approval, { item: { type: "mcpToolCall", tool: "read_file" } })).toEqual({
      targetItemId: "call",
      action: {
        type: "mcpToolCall",
        server: "files",
        toolName: "read_file",
        ...connector,
        toolTitle: "Read",
      },
    });
    const untitled = asks({ codex_approval_kind: "mcp_tool_call", tool_title: 7 });
    expect(action(untitled)?.action).toMatchObject({ toolName: "tool", toolTitle: null });
    for (const meta of [null, {}, { codex_approval_kind: "other" }])
      expect(action(asks(meta))).toBeUndefined();
  });

  it("is no question to a person, and no tool of a client", () => {
    expect(action(ask("item/tool/requestUserInput", {}))).toBeUndefined();
    expect(action(ask("item/tool/call", {}))).toBeUndefined();
  });
});
