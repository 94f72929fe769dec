import type { SandboxPolicy } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import { answeredPermissions, missingPermissions, permissionGrant, widenedByGrants } from "./permissions.ts";

const READ_ONLY: SandboxPolicy = { type: "readOnly", networkAccess: false };
const WORKSPACE: SandboxPolicy = {
  type: "workspaceWrite",
  writableRoots: ["/extra"],
  networkAccess: false,
  excludeTmpdirEnvVar: false,
  excludeSlashTmp: false,
};

describe("granted permissions", () => {
  const write = permissionGrant({ network: false, write: ["/data"] }, null);
  const network = permissionGrant({ network: true, write: [] }, "t1");

  it("widen the sandbox by exactly what was granted", () => {
    expect(
      widenedByGrants({ sandbox: WORKSPACE, roots: ["/work"] }, [write, "other", network], "t1"),
    ).toEqual({
      sandbox: { ...WORKSPACE, writableRoots: ["/extra", "/data"], networkAccess: true },
      roots: ["/work"],
    });
    expect(widenedByGrants({ sandbox: READ_ONLY, roots: ["/work"] }, [network], "t1")).toEqual({
      sandbox: { type: "readOnly", networkAccess: true },
      roots: ["/work"],
    });
  });

  it.each([
    "",
    "{",
    "null",
    "7",
    "{}",
    '{"network":true}',
    '{"network":1,"write":[],"turnId":null}',
    '{"network":true,"write":[7],"turnId":null}',
    '{"network":true,"write":["/data"]}',
  ])("[DAMAGE-3] that cannot be read grant nothing: %j", (text) => {
    const thread = { sandbox: WORKSPACE, roots: ["/work"] };
    expect(widenedByGrants(thread, [`permissions ${text}`, network], "t1")).toEqual(
      widenedByGrants(thread, [network], "t1"),
    );
  });

  it("of a thread that only reads make nothing else writable, not even its workspace", () => {
    expect(widenedByGrants({ sandbox: READ_ONLY, roots: ["/work"] }, [write], null)).toEqual({
      sandbox: {
        type: "workspaceWrite",
        writableRoots: ["/data"],
        networkAccess: false,
        excludeTmpdirEnvVar: true,
        excludeSlashTmp: true,
      },
      roots: [],
    });
  });

  it("for a turn end with it", () => {
    for (const turnId of ["t2", null])
      expect(widenedByGrants({ sandbox: READ_ONLY, roots: [] }, [network], turnId).sandbox).toEqual(
        READ_ONLY,
      );
  });

  it("change nothing where there is no sandbox", () => {
    const full = { sandbox: { type: "dangerFullAccess" } as const, roots: ["/work"] };
    expect(widenedByGrants(full, [write, network], "t1")).toBe(full);
  });
});

describe("wanted permissions", () => {
  it("are asked for as far as they are missing", () => {
    const wanted = { network: true, write: ["/work/a", "/extra", "/extras", "/data"] };
    expect(missingPermissions(wanted, { sandbox: WORKSPACE, roots: ["/work"] })).toEqual({
      network: true,
      write: ["/extras", "/data"],
    });
    expect(missingPermissions(wanted, { sandbox: READ_ONLY, roots: ["/work"] })).toEqual(wanted);
    expect(missingPermissions(wanted, { sandbox: { type: "dangerFullAccess" }, roots: [] })).toEqual({
      network: false,
      write: [],
    });
  });

  it("are never granted beyond what was asked", () => {
    const asked = { network: false, write: ["/data", "/more"] };
    const none = { network: false, write: [] };
    expect(
      answeredPermissions(
        { network: { enabled: true }, fileSystem: { read: null, write: ["/data", "/"] } },
        asked,
      ),
    ).toEqual({ network: false, write: ["/data"] });
    const entries = [{ path: { type: "path" as const, path: "/more" }, access: "write" as const }];
    expect(answeredPermissions({ fileSystem: { read: null, write: null, entries } }, asked).write).toEqual([
      "/more",
    ]);
    expect(answeredPermissions({}, asked)).toEqual(none);
    expect(answeredPermissions(null, asked)).toEqual(none);
    expect(answeredPermissions({ network: { enabled: true } }, { network: true, write: [] }).network).toBe(
      true,
    );
  });
});
