import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { withoutInherited } from "./inherited-descriptors.ts";
import type { Keyring } from "./platform.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Messages to the keyring program and back. */
export type KeyringQuestion =
  | { readonly kind: "get"; readonly item: string }
  | { readonly kind: "set"; readonly item: string; readonly value: string };
export type KeyringAnswer = { readonly value?: string } | { readonly problem: string };

/** Limit on the program's output; a key is much shorter. */
const MAX_CHARACTERS = 64 * 1024;
/**
 * Environment variables that the keyring program gets: those by which it finds the keyring and shows a dialog, and no
 * others.
 */
const PASSED_VARIABLES =
  /^(PATH|HOME|USER|LOGNAME|LANG|LC_\w+|DBUS_\w+|XDG_\w+|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|TMPDIR)$/;

/**
 * Accesses the keyring through a separate program, which is started for each call. A hanging keyring would otherwise
 * occupy a thread of this process forever, and delay file access and shutdown. A program can be killed.
 */
export function nodeKeyring(program: string, env: Environment): Keyring {
  const ask = async (question: KeyringQuestion, signal: AbortSignal): Promise<string | undefined> => {
    const problem = missingKeyring(env);
    if (problem !== undefined) throw new Error(problem);
    const answer = parseAnswer(await run(program, JSON.stringify(question), env, signal));
    if ("problem" in answer) throw new Error(answer.problem);
    return answer.value;
  };
  return {
    get: (item, signal) => ask({ kind: "get", item }, signal),
    set: async (item, value, signal) => void (await ask({ kind: "set", item, value }, signal)),
  };
}

/** Why there is no keyring, as far as that is visible without calling it; undefined if there may be one. */
function missingKeyring(env: Environment): string | undefined {
  if (env["BOBBIN_NO_KEYRING"]) return "BOBBIN_NO_KEYRING is set";
  if (process.platform !== "linux" || env["DBUS_SESSION_BUS_ADDRESS"]) return undefined;
  const folder = env["XDG_RUNTIME_DIR"] ?? `/run/user/${process.getuid?.()}`;
  return existsSync(join(folder, "bus")) ? undefined : "this session has no D-Bus";
}

function run(program: string, input: string, env: Environment, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  const child = spawn(process.execPath, [program], {
    env: Object.fromEntries(Object.entries(env).filter(([name]) => PASSED_VARIABLES.test(name))),
    stdio: withoutInherited(["pipe", "pipe", "ignore"]),
  });
  const kill = (): void => void child.kill("SIGKILL");
  signal.addEventListener("abort", kill);
  let output = "";
  child.stdout!.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    if (output.length > MAX_CHARACTERS) kill();
  });
  // A program that ends without reading its input has written the reason to its output.
  child.stdin!.on("error", () => {});
  child.stdin!.end(input);
  return new Promise<string>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => {
      if (signal.aborted) reject(new Error("it was given up"));
      else resolve(output);
    });
  }).finally(() => signal.removeEventListener("abort", kill));
}

function parseAnswer(output: string): KeyringAnswer {
  try {
    const answer = JSON.parse(output) as { value?: unknown; problem?: unknown };
    if (typeof answer.problem === "string") return { problem: answer.problem };
    if (typeof answer.value === "string") return { value: answer.value };
    if (answer.value === undefined) return {};
  } catch {
    // An answer that is not JSON is reported as no answer.
  }
  return { problem: "the program that asks it ended without an answer" };
}
