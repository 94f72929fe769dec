import { describe, expect, it } from "vitest";
import { NO_RULES } from "./command-and-network-rules.ts";
import { decideConsent } from "./decide-consent.ts";
import { grantKey, listGrants } from "./list-grants.ts";
import { parseCommand } from "./parse-command.ts";
import { patchGrant } from "./patch-consent.ts";
import { type Permissions, permissionGrant } from "./permissions.ts";

const described = (...grants: string[]) =>
  listGrants({ grants, turn: { id: "turn-1" }, terminals: [{ processId: "1234" }] }).map(
    ({ kind, description }) => [kind, description],
  );

/** The grant key of a command. */
function commandKey(
  text: string,
  shell: string | null = null,
  additional: Permissions | null = null,
): string {
  const consent = decideConsent({
    what: {
      kind: "command",
      command: parseCommand(text, "bash"),
      escalate: additional === null,
      additional,
      justification: null,
      prefixRule: null,
      workdir: "/work",
      shell,
    },
    policy: "on-request",
    sandbox: { type: "readOnly" },
    roots: ["/work"],
    sandboxProblem: null,
    rules: NO_RULES,
    grants: [],
  });
  if (consent.kind !== "ask") throw new Error(consent.kind);
  return consent.grant;
}

describe("what people granted", () => {
  it("[GRANT-1] is described in plain words", () => {
    const write = ["/srv/a", "/srv/b"];
    expect(
      described(
        commandKey("npm install"),
        commandKey("ls", "/bin/zsh"),
        commandKey("ls", null, { network: true, write: ["/srv"] }),
        "stdin 1234",
        patchGrant(["/etc/hosts"]),
        permissionGrant({ network: true, write }, null),
        "network https example.org:443",
        "rap dice roll",
        "roll:always",
      ),
    ).toEqual([
      ["command", "Run this command outside of the sandbox, in /work: npm install"],
      ["command", "Run this command outside of the sandbox, in /work, by /bin/zsh: ls"],
      ["command", "Run this command in the sandbox, in /work, and let it use the network, write to /srv: ls"],
      ["stdin", "Write input to the running command with session ID 1234"],
      ["patch", "Change /etc/hosts by patches"],
      ["permissions", "Let commands and patches use the network, write to /srv/a, write to /srv/b"],
      ["network", "Connect to example.org:443 by https"],
      ["tool", "Call the tool roll of the tool server dice"],
      ["other", "roll:always"],
    ]);
  });

  it("shows the beginning of a long command, and tells two apart that differ later", () => {
    const long = "x".repeat(5000);
    const [one, other] = [commandKey(`echo ${long}1`), commandKey(`echo ${long}2`)];
    expect(one).not.toBe(other);
    expect(one.length).toBeLessThan(1024);
    expect(described(one)).toEqual([
      ["command", `Run this command outside of the sandbox, in /work: echo ${"x".repeat(295)}…`],
    ]);
    const wide = commandKey(`echo ${long}`, null, { network: false, write: ["/srv"] });
    expect(described(wide)[0]![1]).toContain("in the sandbox, in /work, and let it write to /srv: echo x");
    // The form in journals of earlier versions.
    expect(described(`command ${"0".repeat(64)}`)).toEqual([
      ["command", "Run a long command, of which only a digest is known"],
    ]);
  });

  it("is listed for a turn only while that turn runs, with its time, and found by its id", () => {
    const session = permissionGrant({ network: true, write: [] }, null);
    const turn = permissionGrant({ network: true, write: [] }, "turn-1");
    const grants = [session, turn];
    const list = (id: string) =>
      listGrants({ grants, grantTimes: { [turn]: 5 }, turn: { id }, terminals: [] });
    expect(list("turn-1")).toMatchObject([
      { scope: "session", grantedAtMs: null },
      { scope: "turn", grantedAtMs: 5 },
    ]);
    expect(list("turn-2")).toMatchObject([{ scope: "session" }]);
    const ids = list("turn-1").map(({ id }) => id);
    expect(ids.map((id) => grantKey({ grants }, id))).toEqual(grants);
    expect(grantKey({ grants }, "nothing")).toBeUndefined();
  });

  it("is listed for a process only while that runs", () => {
    expect(described("stdin 1234", "stdin 5678")).toHaveLength(1);
  });

  it.each(["patch x", "permissions 1", "patch [1]", ""])(
    "shows a key as it is that cannot be read: %j",
    (key) => {
      expect(described(key)).toEqual([["other", key]]);
    },
  );

  it("[DAMAGE-3] is described without harm, whatever a damaged key says of permissions", () => {
    for (const extra of ["{}", '{"write":7}', '{"network":1,"write":[7]}', "null", "[]"]) {
      const key = `command ["outside","ls","/work",${extra}]`;
      expect(described(key)).toEqual([["command", "Run this command outside of the sandbox, in /work: ls"]]);
    }
  });
});
