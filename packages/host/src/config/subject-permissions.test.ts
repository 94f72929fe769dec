import { describe, expect, it } from "vitest";
import { readConfig } from "./config.ts";
import { GRANTS, readSubjects } from "./subject-permissions.ts";
import { configOfSubject, missingGrant } from "./subject-sandbox.ts";

const read = (subjects: object) => readSubjects({ subjects }, "/home/bobbin");

describe("[subjects] in config.toml", () => {
  it("[REACH-2] grants nothing where it is missing", () => {
    const nothing = { roots: [], toolServers: [], mcpServers: [], allow: [] };
    expect(readSubjects({}, "/home")).toEqual({ others: nothing, named: new Map() });
  });

  it("[REACH-2] is for all subjects, and a table of its own replaces single keys for one", () => {
    const { others, named } = read({
      roots: ["/srv/shared/"],
      allow: ["network"],
      "ann@example.org": { roots: ["/srv/ann", "/srv/more"], tool_servers: ["https://tools.example/ann"] },
      bob: { roots: [], allow: [] },
      roots_: {},
    });
    expect(others).toEqual({ roots: ["/srv/shared/"], toolServers: [], mcpServers: [], allow: ["network"] });
    expect(named.get("ann@example.org")).toEqual({
      roots: ["/srv/ann", "/srv/more"],
      toolServers: ["https://tools.example/ann"],
      mcpServers: [],
      allow: ["network"],
    });
    expect(named.get("bob")).toEqual({ roots: [], toolServers: [], mcpServers: [], allow: [] });
    expect(named.get("roots_")).toEqual(others);
  });

  it.each<[object, RegExp]>([
    [
      { root: ["/srv"] },
      /^subjects\.root is not a key of this table; it has roots, tool_servers, mcp_servers, allow$/,
    ],
    [{ ann: { rotos: [] } }, /^subjects\.ann\.rotos is not a key/],
    [{ roots: "/srv" }, /^subjects\.roots: expected a list/],
    [{ roots: ["srv"] }, /^subjects\.roots: "srv" must be an absolute path$/],
    [{ roots: ["/home/bobbin/."] }, /is the home of this host/],
    [{ tool_servers: ["tools.example"] }, /^subjects\.tool_servers: expected an http/],
    [{ tool_servers: ["https://u:p@tools.example"] }, /credentials/],
    [
      { ann: { tool_servers: ["https://tools.example/?x"] } },
      /^subjects\.ann\.tool_servers: .*without \? and #/,
    ],
    [
      { allow: ["everything"] },
      new RegExp(`^subjects\\.allow: "everything" is not one of ${GRANTS.join(", ")}$`),
    ],
    [{ allow: true }, /^subjects\.allow: expected a list/],
  ])("[REACH-2] is refused as %j", (subjects, why) => {
    expect(() => read(subjects)).toThrow(why);
  });
});

describe("the sandbox of a subject", () => {
  const rules = { roots: [], toolServers: [], mcpServers: [], allow: [] };
  const all = { ...rules, allow: GRANTS };

  it.each([
    [{ type: "dangerFullAccess" }, "full-access"],
    [{ type: "externalSandbox" }, "full-access"],
    [{ type: "externalSandbox", networkAccess: "enabled" }, "full-access"],
    [{ type: "readOnly", networkAccess: true }, "network"],
    [{ type: "workspaceWrite", networkAccess: true }, "network"],
    [{ type: "readOnly" }, undefined],
    [{ type: "workspaceWrite", networkAccess: false }, undefined],
  ] as const)("[REACH-5] %j needs the grant %s", (sandbox, grant) => {
    expect(missingGrant(sandbox, rules)).toBe(grant);
    expect(missingGrant(sandbox, all)).toBeUndefined();
  });

  it("[REACH-5] is not the host's own, where that allows more than is granted", () => {
    const host = readConfig({
      sandbox_mode: "danger-full-access",
      sandbox_workspace_write: { writable_roots: ["/srv"], network_access: true },
    });
    expect(configOfSubject(host, rules)).toMatchObject({
      sandbox: { sandbox: { type: "readOnly", networkAccess: false }, permissionProfile: ":read-only" },
      workspaceWrite: { writableRoots: [], networkAccess: false },
    });
    expect(configOfSubject(host, all)).toMatchObject({
      sandbox: { sandbox: { type: "dangerFullAccess" } },
      workspaceWrite: { writableRoots: [], networkAccess: true },
    });
    const write = readConfig({
      sandbox_mode: "workspace-write",
      sandbox_workspace_write: { writable_roots: ["/srv"] },
    });
    expect(configOfSubject(write, rules).sandbox).toMatchObject({
      sandbox: { type: "workspaceWrite", writableRoots: [] },
      permissionProfile: null,
    });
  });
});
