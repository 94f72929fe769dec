import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../../../../test/support/eventually.ts";
import { freshFolder } from "../../../../test/support/folder.ts";
import { nodeKeyring } from "./node-keyring.ts";

const BUS = { DBUS_SESSION_BUS_ADDRESS: "unix:path=/nonexistent" };
const never = new AbortController().signal;

/** A program in place of the one that asks the keyring. */
async function keyring(code: string, env: Readonly<Record<string, string>> = BUS) {
  const folder = await freshFolder("keyring");
  const program = join(folder, "program.cjs");
  await writeFile(program, `const { readFileSync, writeFileSync } = require("node:fs");\n${code}`);
  return { folder, keyring: nodeKeyring(program, env) };
}

const echo = "process.stdout.write(JSON.stringify({ value: readFileSync(0, 'utf8') }))";

it("[ACCT-10] gives its question to a program by a pipe, and gets the answer", async () => {
  const { keyring: echoing } = await keyring(echo);
  expect(JSON.parse((await echoing.get("one", never))!)).toEqual({ kind: "get", item: "one" });
  const { keyring: empty } = await keyring("process.stdout.write('{}')");
  expect(await empty.get("one", never)).toBeUndefined();
  await empty.set("one", "two", never);
});

it("[ACCT-10] passes on nothing of the environment but what finds the keyring", async () => {
  const code = "process.stdout.write(JSON.stringify({ value: JSON.stringify(Object.keys(process.env)) }))";
  const { keyring: asking } = await keyring(code, {
    ...BUS,
    HOME: "/h",
    OPENAI_API_KEY: "k",
    NODE_OPTIONS: "-x",
  });
  const names = JSON.parse((await asking.get("one", never))!) as string[];
  expect(names).toEqual(expect.arrayContaining(["HOME", "DBUS_SESSION_BUS_ADDRESS"]));
  expect(names).not.toContain("OPENAI_API_KEY");
});

it.each([
  ['process.stdout.write(\'{"problem":"AccessDenied"}\')', "AccessDenied"],
  ["process.exit(3)", "ended without an answer"],
  ["process.stdout.write('{\"value\":1}')", "ended without an answer"],
  ["process.stdout.write('x'.repeat(1_000_000)); setInterval(() => {}, 1000)", "ended without an answer"],
])("[ACCT-10] rejects with the reason: %s", async (code, why) => {
  const { keyring: asking } = await keyring(code);
  await expect(asking.get("one", never)).rejects.toThrow(why);
});

it("[ACCT-10] kills a program that hangs when it is given up", async () => {
  const hang = `writeFileSync(__dirname + "/pid", String(process.pid)); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);`;
  const { folder, keyring: hanging } = await keyring(hang);
  const stop = new AbortController();
  const asked = hanging.get("one", stop.signal);
  const pid = join(folder, "pid");
  await eventually(async () => existsSync(pid) && (await readFile(pid, "utf8")) !== "", "the program runs");
  stop.abort();
  await expect(asked).rejects.toThrow("given up");
  const id = Number(await readFile(pid, "utf8"));
  expect(() => process.kill(id, 0)).toThrow("ESRCH");
  await expect(hanging.get("one", stop.signal)).rejects.toThrow();
});

it("[ACCT-10] starts no program where it is plain that there is no keyring", async () => {
  const { folder, keyring: absent } = await keyring(`writeFileSync(__dirname + "/ran", "")`, {
    ...BUS,
    BOBBIN_NO_KEYRING: "1",
  });
  await expect(absent.get("one", never)).rejects.toThrow("BOBBIN_NO_KEYRING");
  expect(existsSync(join(folder, "ran"))).toBe(false);
});

it.runIf(process.platform === "linux")("[ACCT-10] says that a session has no D-Bus", async () => {
  const { keyring: absent } = await keyring(echo, { XDG_RUNTIME_DIR: "/nonexistent" });
  await expect(absent.get("one", never)).rejects.toThrow("no D-Bus");
});
