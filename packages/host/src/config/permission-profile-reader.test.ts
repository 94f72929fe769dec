import { parse } from "@decimalturn/toml-patch";
import { describe, expect, it } from "vitest";
import { policyOfProfile, readPermissionProfiles } from "./permission-profile-reader.ts";
import type { Table } from "./table-reader.ts";

const read = (toml: string) => readPermissionProfiles(parse(toml) as Table);

describe("[permissions]", () => {
  it("reads rules for special places, paths, folders below them and patterns", () => {
    const profile = read(`
      [permissions.dev]
      description = "For development"
      [permissions.dev.filesystem]
      ":minimal" = "read"
      "/srv/data/**" = "read"
      "/etc/**/*.key" = "deny"
      ":workspace_roots" = { "." = "write", "docs" = "read", "**/*.env" = "deny" }
      "/opt/tools" = { "bin" = "read" }
      [permissions.dev.network]
      enabled = true
    `).get("dev");
    expect(profile).toEqual({
      id: "dev",
      description: "For development",
      extends: null,
      workspaceRoots: [],
      rules: [
        { place: { kind: "minimal" }, access: "read" },
        { place: { kind: "path", path: "/srv/data" }, access: "read" },
        { place: { kind: "pattern", folder: "/etc", pattern: "**/*.key" }, access: "deny" },
        { place: { kind: "workspace", below: "" }, access: "write" },
        { place: { kind: "workspace", below: "docs" }, access: "read" },
        { place: { kind: "pattern", folder: null, pattern: "**/*.env" }, access: "deny" },
        { place: { kind: "path", path: "/opt/tools/bin" }, access: "read" },
      ],
      globScanMaxDepth: 8,
      network: true,
    });
  });

  it("merges what a profile extends, key by key", () => {
    const profile = read(`
      [permissions.base]
      extends = ":workspace"
      [permissions.base.filesystem]
      ":slash_tmp" = "read"
      [permissions.child]
      extends = "base"
      [permissions.child.filesystem]
      ":workspace_roots" = { "secret" = "deny" }
    `).get("child")!;
    expect(profile.extends).toBe("base");
    expect(profile.rules).toEqual([
      { place: { kind: "root" }, access: "read" },
      { place: { kind: "workspace", below: "" }, access: "write" },
      { place: { kind: "workspace", below: "secret" }, access: "deny" },
      { place: { kind: "slashTmp" }, access: "read" },
      { place: { kind: "tmpdir" }, access: "write" },
    ]);
    expect(policyOfProfile(profile)).toEqual({
      type: "workspaceWrite",
      writableRoots: [],
      networkAccess: false,
      excludeTmpdirEnvVar: false,
      excludeSlashTmp: true,
    });
  });

  it("tells hosts apart where it lists some", () => {
    const profile = read(`
      [permissions.web.network]
      enabled = true
      domains = { "Example.ORG." = "allow", "**.example.net" = "allow", "*.evil.example" = "deny", "0x7f.1" = "allow" }
    `).get("web")!;
    expect(profile.network).toEqual({
      socks: true,
      domains: [
        { pattern: "example.org", access: "allow" },
        { pattern: "**.example.net", access: "allow" },
        { pattern: "*.evil.example", access: "deny" },
        { pattern: "127.0.0.1", access: "allow" },
      ],
    });
    expect(policyOfProfile(profile)).toMatchObject({ networkAccess: true });
  });

  it("has no network where only hosts are listed and it is not enabled", () => {
    expect(
      read('[permissions.web.network]\ndomains = { "example.org" = "allow" }\n').get("web")?.network,
    ).toBe(false);
  });

  it.each([
    ['[permissions.a]\nextends = "b"\n[permissions.b]\nextends = "a"\n', "cycle detected: a -> b -> a"],
    ['[permissions.a]\nextends = "b"\n', "`a` extends undefined profile `b`"],
    ['[permissions.a]\nextends = ":danger-full-access"\n', "cannot extend unsupported built-in profile"],
    ['[permissions.":a"]\n', "reserved built-in profile prefix"],
    ["[permissions.a]\nfilesytem = {}\n", "permissions.a.filesytem is unknown"],
    ['[permissions.a.filesystem]\n":roots" = "read"\n', ":roots is not one of :root, :minimal"],
    ['[permissions.a.filesystem]\n"src" = "read"\n', "must be absolute"],
    ['[permissions.a.filesystem]\n"/src" = "execute"\n', '"execute" is not one of read, write, deny'],
    ['[permissions.a.filesystem]\n"/src/*.c" = "write"\n', "can only be denied"],
    ['[permissions.a.filesystem]\n":tmpdir" = { "x" = "read" }\n', "does not support nested entries"],
    ['[permissions.a.filesystem]\n"/src" = { "../x" = "read" }\n', "without `.` or `..` components"],
    ["[permissions.a.filesystem]\nglob_scan_max_depth = 0\n", "at least 1"],
    ['[permissions.a.network]\nmode = "limited"\n', 'network.mode = "limited" is not supported'],
    ["[permissions.a.network]\nmitm = {}\n", "permissions.a.network.mitm is unknown"],
    ['[permissions.a.network]\ndomains = { "*" = "allow" }\n', '"*" is neither a host nor a pattern'],
    ['[permissions.a.network]\ndomains = { "a b" = "allow" }\n', '"a b" is neither a host nor a pattern'],
    ['[permissions.a.network]\ndomains = { "a.b" = "ask" }\n', '"a.b" has to be "allow" or "deny"'],
  ])("refuses %j", (toml, problem) => {
    expect(() => read(toml)).toThrow(problem);
  });
});
