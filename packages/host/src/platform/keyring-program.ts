// Asks the operating system's keyring one question: JSON on standard input, JSON on standard output. See
// platform/node-keyring.ts for why this is a separate program.
import { text } from "node:stream/consumers";
import { Worker } from "node:worker_threads";
import { Entry, findCredentials } from "@napi-rs/keyring";
import type { KeyringAnswer, KeyringQuestion } from "./node-keyring.ts";

/** The name under which the user sees the entries in the keyring. */
const SERVICE = "Bobbin";

/** Time limit of this program. Longer than any host waits for it. */
const LONGEST_MS = 10_000;

/** Without this option the package falls back to the kernel's key storage, which does not survive a reboot. */
const entryOf = (item: string): Entry => new Entry(SERVICE, item, { linux: { store: "secret-service" } });

/** Throws if the keyring does not answer. */
function read(item: string): string | undefined {
  // On Linux, `getPassword` would ask the user to unlock the keyring at each read.
  if (process.platform === "linux")
    return findCredentials(SERVICE).find(({ account }) => account === item)?.password;
  return entryOf(item).getPassword() ?? undefined;
}

function answer(question: KeyringQuestion): KeyringAnswer {
  const { kind, item } = question;
  const before = read(item);
  if (kind === "get") return before === undefined ? {} : { value: before };
  const entry = entryOf(item);
  entry.setPassword(question.value);
  if (read(item) === question.value) return {};
  entry.deleteCredential();
  return { problem: "it did not keep what it was given" };
}

/** The message of a thrown value, in one line. */
function wordsOf(cause: unknown): string {
  const words = cause instanceof Error ? cause.message : String(cause);
  return words.replace(/\s+/g, " ").trim().slice(0, 300);
}

// A worker thread ends this program after the time limit: a hanging keyring blocks the main thread, and the host that
// would kill the program may have ended.
const end = `setTimeout(() => process.kill(${process.pid}, "SIGKILL"), ${LONGEST_MS})`;
new Worker(end, { eval: true }).unref();

const say = (answer: KeyringAnswer): void => void process.stdout.write(JSON.stringify(answer));

text(process.stdin)
  .then((input) => say(answer(JSON.parse(input) as KeyringQuestion)))
  .catch((cause: unknown) => say({ problem: wordsOf(cause) }));
