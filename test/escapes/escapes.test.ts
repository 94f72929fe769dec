// Ways out of the sandbox, none of which may work. Those that are scripts are made in one confined command for each
// setting, one after the other, and then outside of the sandbox, where they have to work: a mistake in a script would
// otherwise pass for a refusal.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasOtherUsers } from "../support/machine.ts";
import { hasSandbox } from "../support/sandbox-here.ts";
import type { Attempt, Script, Setting } from "./attempt.ts";
import { FILE_ATTEMPTS } from "./file-attempts.ts";
import { GIT_ATTEMPTS } from "./git-attempts.ts";
import { HOST_CHANGE_ATTEMPTS } from "./host-change-attempts.ts";
import { LISTENER_ATTEMPTS } from "./listener-attempts.ts";
import { NETWORK_ATTEMPTS } from "./network-attempts.ts";
import { PROCESS_ATTEMPTS, SOCKET_ATTEMPTS } from "./process-attempts.ts";
import { SCENES } from "./scenes.ts";
import { SOCKET_PAIR_ATTEMPTS } from "./socket-pair-attempts.ts";
import { Stage } from "./stage.ts";

const ATTEMPTS: readonly Attempt[] = [
  ...FILE_ATTEMPTS,
  ...SOCKET_ATTEMPTS,
  ...NETWORK_ATTEMPTS,
  ...PROCESS_ATTEMPTS,
  ...GIT_ATTEMPTS,
  ...SCENES,
  ...HOST_CHANGE_ATTEMPTS,
  ...LISTENER_ATTEMPTS,
  ...SOCKET_PAIR_ATTEMPTS,
];
const SETTINGS: readonly Setting[] = [
  "read-only",
  "workspace-write",
  "with network",
  "network by host",
  "as a git command",
];
const NOBODY = 65534;
/** Ends an attempt that hangs. Long, because attempts are slow on a busy machine. */
const STUCK_SECONDS = 300;
/** The exit code of `timeout` for a command that it has ended. */
const TIMED_OUT = 124;

const own = process.getuid?.() ?? 0;
const users = [
  { name: own === 0 ? "root" : "the user of this test", uid: own },
  ...(hasOtherUsers() ? [{ name: "another user", uid: NOBODY }] : []),
];

type Scripted = Attempt & { readonly how: Script };
const isScripted = (attempt: Attempt): attempt is Scripted => "script" in attempt.how;

/** Makes attempts one after the other; resolves with the exit code of each. */
async function makeAll(
  attempts: readonly Scripted[],
  run: (script: string) => Promise<{ readonly output: string }>,
): Promise<ReadonlyMap<string, number>> {
  const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
  const script = attempts
    .map(
      ({ id, how }) =>
        `timeout ${STUCK_SECONDS} sh -c ${quoted(how.script)} </dev/null >/dev/null 2>&1; echo "${id} $?"`,
    )
    .join("\n");
  const { output } = await run(script);
  return new Map(Array.from(output.matchAll(/^([\w-]+) (\d+)$/gm), ([, id, code]) => [id!, Number(code)]));
}

describe.runIf(hasSandbox).each(users)("as $name", ({ uid }) => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await Stage.build(uid);
  });
  afterAll(() => stage?.close());

  it.each(SETTINGS)("[SANDBOX-4] refuses every attempt: %s", async (setting) => {
    const attempts = ATTEMPTS.filter(isScripted).filter((attempt) => attempt.setting === setting);
    const before = await stage.outsideState();
    const codes = await makeAll(attempts, (script) => stage.confined(setting, script));
    expect([...codes.keys()]).toEqual(attempts.map(({ id }) => id));
    const escaped = attempts.filter(({ id }) => codes.get(id) === 0);
    expect(escaped.map(({ id, tries }) => `${id}: ${tries}`)).toEqual([]);
    const stuck = attempts.filter(({ id }) => codes.get(id) === TIMED_OUT);
    expect(stuck.map(({ id }) => `${id}: was neither refused nor successful`)).toEqual([]);
    expect(await stage.outsideState()).toBe(before);
  });

  it("makes attempts through the proxy that work where their address is listed", async () => {
    const ids = ["loopback", "loopback-socks", "decimal", "hexadecimal", "octal", "short", "mapped"];
    const attempts = ATTEMPTS.filter(isScripted).filter(({ id }) =>
      ids.some((one) => id === `by-host-${one}`),
    );
    const proxy = { listed: ["127.0.0.1", "::ffff:7f00:1"] };
    const codes = await makeAll(attempts, (script) => stage.confined("network by host", script, { proxy }));
    expect([...codes.values()]).toEqual(ids.map(() => 0));
  });

  const scenes = ATTEMPTS.flatMap(({ id, tries, how }) => ("play" in how ? [{ id, tries, how }] : []));
  it.each(scenes)("[SANDBOX-4] refuses $id", async ({ how }) => {
    const before = await stage.outsideState();
    expect(await how.play(stage)).toBe(false);
    expect(await stage.outsideState()).toBe(before);
  });

  // Last: they change what is outside.
  it("makes attempts that work outside of the sandbox", async () => {
    const attempts = ATTEMPTS.filter(isScripted).filter(
      ({ how }) => how.worksFor === "everybody" || (how.worksFor === "root" && uid === 0),
    );
    const codes = await makeAll(attempts, (script) => stage.outside(script));
    const failed = attempts.filter(({ id }) => codes.get(id) !== 0);
    expect(failed.map(({ id, how }) => `${id}: ${codes.get(id)}: ${how.script}`)).toEqual([]);
  });
});

describe("the list of escapes in docs/security.md", () => {
  const path = join(import.meta.dirname, "..", "..", "docs", "security.md");
  const [begin, end] = ["<!-- escapes: written by test/escapes -->\n", "<!-- end of escapes -->"];

  it("lists exactly the escapes that are tried", () => {
    const rows = ATTEMPTS.map(({ id, tries, setting }) => `| \`${id}\` | ${tries} | ${setting} |`);
    const table = ["| escape | what it tries | sandbox |", "| --- | --- | --- |", ...rows, ""].join("\n");
    const page = readFileSync(path, "utf8");
    const [from, to] = [page.indexOf(begin) + begin.length, page.indexOf(end)];
    expect(page.indexOf(begin)).toBeGreaterThan(0);
    if (process.env.BOBBIN_UPDATE_DOCS === "1")
      writeFileSync(path, page.slice(0, from) + table + page.slice(to));
    else expect(page.slice(from, to)).toBe(table);
  });

  it("has at least sixty, each with a name of its own", () => {
    expect(new Set(ATTEMPTS.map(({ id }) => id)).size).toBe(ATTEMPTS.length);
    expect(ATTEMPTS.length).toBeGreaterThanOrEqual(60);
  });
});
