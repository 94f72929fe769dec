import { describe, expect, it } from "vitest";
import { check } from "./schema-check.ts";
import {
  array,
  boolean,
  enumeration,
  experimental,
  integer,
  nodeOf,
  nullable,
  object,
  omittable,
  open,
  optional,
  optionsOf,
  record,
  type Schema,
  shapeOf,
  string,
  tagged,
  union,
  unknown,
  variantsOf,
} from "./schema-language.ts";
import { findMethod, methods, notifications, serverRequests } from "./table.ts";

const on = { experimental: true, method: "x/y" };
const off = { experimental: false, method: "x/y" };
const invalid = (schema: Schema<unknown>, value: unknown) => {
  const violation = check(schema, value, on);
  return violation?.kind === "invalid" ? `${violation.path}: ${violation.message}` : violation;
};
const params = (name: string, value: unknown, options = { experimental: false }) =>
  check(findMethod(name)!.params, value, { ...options, method: name });

/** Names of parameters that are paths. */
const PATH_KEY = /^(?:cwds?|path|roots|extraLogFiles|(?!key)\w+(?:Path|Roots?|Folder))$/;

describe("check", () => {
  it("names the path of the bad field", () => {
    const value = { threadId: "t", input: [{ type: "text", text: 1 }] };
    expect(params("turn/start", value)).toEqual({
      kind: "invalid",
      path: "input[0].text",
      message: "expected a string, got 1",
    });
    expect(params("turn/start", { input: [] })).toMatchObject({ path: "threadId", message: "missing field" });
  });

  it("reports the failure of the union option that fails deepest", () => {
    const value = { threadId: "t", approvalPolicy: { granular: { rules: 1 } }, input: [] };
    const violation = params("turn/start", value);
    expect(violation).toMatchObject({ kind: "invalid" });
    expect((violation as { path: string }).path).toMatch(/^approvalPolicy\.granular\./);
  });

  it("accepts null for an absent field", () => {
    expect(params("thread/start", { cwd: null, model: null })).toBeUndefined();
  });

  it("drops fields that the schema does not name, wherever they are", () => {
    const text = '{"threadId":"t","x":1,"__proto__":{"y":1},"gitInfo":{"constructor":2,"sha":"a"}}';
    const value = JSON.parse(text);
    expect(params("thread/metadata/update", value)).toBeUndefined();
    expect(JSON.stringify(value)).toBe('{"threadId":"t","gitInfo":{"sha":"a"}}');
    const list = { threadId: "t", input: [{ type: "text", text: "hi", x: 1 }] };
    expect(params("turn/start", list)).toBeUndefined();
    expect(list).toEqual({ threadId: "t", input: [{ type: "text", text: "hi" }] });
  });

  it("keeps unknown fields of an open object and of free-form values", () => {
    const schema = open(object("A", () => ({ any: unknown(), map: record(string()) })));
    const value = { any: { x: 1 }, map: { y: "z" }, more: { w: 1 } };
    expect(invalid(schema, value)).toBeUndefined();
    expect(value).toEqual({ any: { x: 1 }, map: { y: "z" }, more: { w: 1 } });
  });

  it("drops no field because of a union option or a value that failed", () => {
    const choice = union("U", () => [
      object("A", () => ({ in: object("In", () => ({ a: string() })), y: string() })),
      object("B", () => ({ in: open(object("Other", () => ({}))) })),
    ]);
    const value = { in: { a: "a", b: "b" }, z: 1 };
    expect(invalid(choice, value)).toBeUndefined();
    expect(value).toEqual({ in: { a: "a", b: "b" } });
    const wrong = { gone: 1, cwd: 1 };
    expect(params("thread/start", wrong)).toMatchObject({ path: "cwd" });
    expect(wrong).toEqual({ gone: 1, cwd: 1 });
  });

  it("passes a retired field on unchecked", () => {
    const value = { permissionProfile: null };
    expect(params("thread/start", value)).toBeUndefined();
    expect(value).toEqual({ permissionProfile: null });
  });

  it.each([{}, null, "x", "namespace"])("does not treat a tool of type %j as one without a type", (type) => {
    const dynamicTools = [{ type, name: "n", description: "d", inputSchema: {} }];
    const violation = params("thread/start", { dynamicTools }, { experimental: true });
    expect(violation).toMatchObject({ kind: "invalid" });
    expect((violation as { path: string }).path).toMatch(/^dynamicTools\[0\]/);
  });

  it("drops a null where a key may only be absent", () => {
    const value: Record<string, unknown> = { deep: null };
    expect(
      invalid(
        object("A", () => ({ deep: omittable(boolean()) })),
        value,
      ),
    ).toBeUndefined();
    expect(value.deep).toBeUndefined();
  });

  it("keeps null and absent apart where null means to clear", () => {
    const value = { threadId: "t", gitInfo: { branch: null } };
    expect(params("thread/metadata/update", value)).toBeUndefined();
    expect(value.gitInfo.branch).toBeNull();
    const spawn = { command: ["true"], cwd: "/", processHandle: "one", timeoutMs: null };
    expect(params("process/spawn", spawn, { experimental: true })).toBeUndefined();
    expect(spawn.timeoutMs).toBeNull();
  });

  it("requires a nullable key to be present", () => {
    expect(params("thread/section/move", { threadId: "t" })).toMatchObject({ path: "sectionId" });
    expect(params("thread/section/move", { threadId: "t", sectionId: null })).toBeUndefined();
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 1.5, 2 ** 53, "1", null, true])(
    "%s is no integer",
    (value) => {
      expect(
        invalid(
          object("A", () => ({ n: integer() })),
          { n: value },
        ),
      ).toMatch(/^n: expected an integer/);
    },
  );

  it("checks the range of integers", () => {
    expect(invalid(integer("uint32"), -1)).toContain("from 0 to 4294967295");
    expect(invalid(integer("uint16"), 65_536)).toContain("from 0 to 65535");
    expect(params("thread/rollback", { threadId: "t", numTurns: 0 })).toMatchObject({ path: "numTurns" });
  });

  it.each(["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"])(
    "%s is neither an enum value, nor a tag, nor a method",
    (name) => {
      const words = enumeration("E", ["one", "two"], { aliases: { uno: "one" } });
      const kinds = tagged("T", "type", () => ({ one: {}, two: {} }));
      expect(invalid(words, name)).toBeTruthy();
      expect(invalid(kinds, JSON.parse(`{"type":"${name}"}`))).toBeTruthy();
      expect(findMethod(name)).toBeUndefined();
    },
  );

  it("reads an own key named __proto__ of a map like any other", () => {
    expect(invalid(record(string()), JSON.parse('{"__proto__":1}'))).toContain("__proto__");
    expect(invalid(record(string()), JSON.parse('{"a b":1}'))).toMatch(/^\["a b"\]/);
  });

  it("does not walk free-form values, however deep", () => {
    const deep = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`);
    expect(
      invalid(
        object("A", () => ({ any: unknown() })),
        { any: deep },
      ),
    ).toBeUndefined();
  });

  it("refuses a recursive type beyond a depth limit instead of overflowing", () => {
    const Tree: Schema<unknown> = object("Tree", () => ({ child: optional(Tree) }));
    const root: Record<string, unknown> = {};
    let leaf = root;
    for (let depth = 0; depth < 200_000; depth++) {
      const child: Record<string, unknown> = {};
      leaf.child = child;
      leaf = child;
    }
    expect(invalid(Tree, root)).toContain("nested too deeply");
  });

  it("truncates values in messages", () => {
    const violation = params("thread/start", { sandbox: "x".repeat(10_000) });
    expect((violation as { message: string }).message.length).toBeLessThan(200);
  });

  it("refuses arrays, null and scalars for an object", () => {
    for (const value of [[], null, 1, "x", true]) expect(params("thread/read", value)).toBeTruthy();
  });
});

describe("spellings", () => {
  it.each([
    ["thread/start", { sandbox: "workspaceWrite" }, { sandbox: "workspace-write" }],
    ["thread/start", { sandbox: "danger_full_access" }, { sandbox: "danger-full-access" }],
    ["thread/start", { sandbox: "readOnly" }, { sandbox: "read-only" }],
    ["thread/start", { approvalPolicy: "onRequest" }, { approvalPolicy: "on-request" }],
    ["thread/start", { approvalPolicy: "unlessTrusted" }, { approvalPolicy: "untrusted" }],
    ["thread/start", { approvalPolicy: "unless-trusted" }, { approvalPolicy: "untrusted" }],
    ["thread/start", { approvalPolicy: "on-failure" }, { approvalPolicy: "on-request" }],
    ["thread/list", { sortKey: "createdAt" }, { sortKey: "created_at" }],
    [
      "turn/start",
      { threadId: "t", input: [], sandboxPolicy: { type: "workspace-write" } },
      { threadId: "t", input: [], sandboxPolicy: { type: "workspaceWrite" } },
    ],
  ])("%s %j becomes %j", (name, value, canonical) => {
    expect(params(name, value)).toBeUndefined();
    expect(value).toEqual(canonical);
  });

  it.each(["WorkspaceWrite", "WORKSPACE-WRITE", "workspace write", "workspacewrite", ""])(
    "%j is not a spelling",
    (sandbox) => {
      expect(params("thread/start", { sandbox })).toMatchObject({ kind: "invalid", path: "sandbox" });
    },
  );
});

describe("the experimental gate", () => {
  it("names the field that was used", () => {
    expect(params("thread/start", { dynamicTools: [] })).toEqual({
      kind: "experimental",
      name: "thread/start.dynamicTools",
    });
    expect(params("thread/start", { dynamicTools: [] }, { experimental: true })).toBeUndefined();
  });

  it("ignores null, and the default of a key that has one", () => {
    expect(params("thread/start", { dynamicTools: null, experimentalRawEvents: false })).toBeUndefined();
    expect(params("thread/start", { experimentalRawEvents: true })).toMatchObject({ kind: "experimental" });
  });

  it("reports invalid values before a missing capability", () => {
    expect(params("thread/start", { dynamicTools: [], cwd: 1 })).toMatchObject({
      kind: "invalid",
      path: "cwd",
    });
  });

  it("names a gated option of a union", () => {
    const granular = { rules: true, sandbox_approval: true, mcp_elicitations: true };
    expect(params("thread/start", { approvalPolicy: { granular } })).toEqual({
      kind: "experimental",
      name: "askForApproval.granular",
    });
  });

  it("ignores experimental fields of a failed union option", () => {
    const choice = union("U", () => [
      object("A", () => ({ x: experimental(string()), y: string() })),
      object("B", () => ({ z: string() })),
    ]);
    expect(check(choice, { x: "used", z: "z" }, off)).toBeUndefined();
  });

  it("accepts every capability in initialize itself", () => {
    const clientInfo = { name: "a", version: "1" };
    const capabilities = { eventCursor: true, threadUnloadDelaySecs: 5 };
    expect(params("initialize", { clientInfo, capabilities })).toBeUndefined();
  });
});

describe("the table", () => {
  const roots = [...Object.values(methods), ...Object.values(serverRequests)]
    .flatMap(({ params, result }) => [params, result] as Schema<unknown>[])
    .concat(Object.values(notifications).map(({ params }) => params));

  it("has no key that objects inherit, and no duplicate type name", () => {
    const seen = new Map<string, unknown>();
    const visit = (node: ReturnType<typeof nodeOf>): void => {
      if ("name" in node && node.name) {
        if (seen.get(node.name) === node) return;
        expect(seen.has(node.name), node.name).toBe(false);
        seen.set(node.name, node);
      }
      const shapes =
        node.kind === "object"
          ? [shapeOf(node)]
          : node.kind === "tagged"
            ? [...variantsOf(node).values()].flat()
            : [];
      for (const field of shapes.flat()) {
        expect(field.key in Object.prototype, field.key).toBe(false);
        visit(field.node);
      }
      if (node.kind === "union") optionsOf(node).forEach(visit);
      if (node.kind === "array") visit(node.item);
      if (node.kind === "record") visit(node.value);
      if (node.kind === "nullable" || node.kind === "gated") visit(node.inner);
    };
    for (const root of roots) visit(nodeOf(root));
    expect(seen.size).toBeGreaterThan(300);
  });

  it("refuses NUL in every path that a client sends", () => {
    const paths: string[] = [];
    const unchecked: string[] = [];
    for (const [name, entry] of Object.entries(methods)) {
      // These methods refuse NUL themselves.
      if (name.startsWith("fs/") || name.startsWith("fuzzyFileSearch")) continue;
      const seen = new Set<unknown>();
      const visit = (node: ReturnType<typeof nodeOf>, at: string, isPath: boolean): void => {
        if (node.kind === "string" && isPath) (node.isPath ? paths : unchecked).push(`${name} ${at}`);
        if (seen.has(node) && !isPath) return;
        seen.add(node);
        const sets = node.kind === "tagged" ? [...variantsOf(node).values()].flat() : [];
        const shapes = node.kind === "object" ? [shapeOf(node)] : sets;
        for (const { key, node: inner } of shapes.flat()) visit(inner, `${at}.${key}`, PATH_KEY.test(key));
        if (node.kind === "union") for (const option of optionsOf(node)) visit(option, at, isPath);
        if (node.kind === "array") visit(node.item, at, isPath);
        if (node.kind === "record") visit(node.value, at, false);
        if (node.kind === "nullable" || node.kind === "gated") visit(node.inner, at, isPath);
      };
      visit(nodeOf(entry.params), "", false);
    }
    expect(unchecked).toEqual([]);
    expect(paths.length).toBeGreaterThan(40);
    expect(params("thread/start", { cwd: "/tmp\0x" })).toEqual({
      kind: "invalid",
      path: "cwd",
      message: "must not contain the character NUL",
    });
    expect(
      params("turn/start", { threadId: "t", input: [{ type: "localImage", path: "/a\0" }] }),
    ).toMatchObject({ path: "input[0].path" });
    expect(params("thread/list", { cwd: ["/a", "/b\0"] })).toMatchObject({ path: "cwd[1]" });
    expect(params("turn/start", { threadId: "t", input: [{ type: "text", text: "a\0" }] })).toBeUndefined();
  });

  it("serialises by thread only where there is a thread id", () => {
    for (const [name, entry] of Object.entries(methods)) {
      if (entry.scope.by !== "thread") continue;
      const node = nodeOf(entry.params);
      expect(node.kind === "object" && shapeOf(node).some(({ key }) => key === "threadId"), name).toBe(true);
    }
  });

  it("accepts absent params, null or an object for a method without params", () => {
    for (const value of [undefined, null, {}])
      expect(params("configRequirements/read", value)).toBeUndefined();
    expect(params("account/rateLimits/read", null)).toBeUndefined();
  });

  it("supports arrays of nullable values", () => {
    expect(invalid(array(nullable(string())), ["a", null])).toBeUndefined();
  });
});
