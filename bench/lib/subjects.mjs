// What is measured: ours, the peer, the floor. A subject is a command that serves stdio as it stands and a
// socket with `--listen URL` added; every start gets a home of its own and an environment without the
// user's keys, proxies and settings, so that nothing of theirs is read, written or measured.
import { execFile } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { removeFolder, temporaryFolder } from "./cleanup.mjs";
import { StdioServer } from "./server.mjs";
import { startSocketServer } from "./socket.mjs";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

/**
 * @typedef {object} HomeOptions
 * @property {string} [modelUrl] a model server to use; without one ours has its built-in offline model, and
 * the peer a provider that nobody answers for
 * @property {string} [top] more for the top of config.toml; needs a model server
 * @property {string} [config] more for its end
 * @property {string} [sandbox] what commands may touch: a `sandbox_mode`
 * @property {boolean} [alone] run a copy of the program: PSS divides an executable's pages by the number of
 * processes that run it, and the bench itself is one more Node
 * @property {Record<string, string>} [env] more for its environment
 */

/**
 * @typedef {object} Home a folder for one subject, kept over several starts
 * @property {"ours" | "peer" | "floor"} name whose it is
 * @property {string} path
 * @property {() => StdioServer} stdio starts the command on stdio; initialize is the caller's
 * @property {(more?: { tryEveryMs?: number }) => ReturnType<typeof startSocketServer>} socket
 * @property {() => void} close
 */

export class Subject {
  /**
   * @param {"ours" | "peer" | "floor"} name
   * @param {string[]} command
   */
  constructor(name, command) {
    this.name = name;
    this.command = command;
  }

  /**
   * @param {HomeOptions} [options]
   * @returns {Home}
   */
  home({ modelUrl, top = "", config = "", sandbox = "read-only", alone, env } = {}) {
    const path = temporaryFolder();
    const url = modelUrl ?? (this.name === "peer" ? "http://127.0.0.1:9/v1" : undefined);
    if (url) writeFileSync(join(path, "config.toml"), top + configFor(url, sandbox) + config);
    const command = alone ? copyProgram(this.command, path) : this.command;
    const options = {
      cwd: path,
      env: {
        PATH: process.env.PATH,
        LANG: "C.UTF-8",
        HOME: path,
        BOBBIN_HOME: path,
        CODEX_HOME: path,
        ...env,
      },
    };
    return {
      name: this.name,
      path,
      stdio: () => new StdioServer(command, options),
      socket: (more) => startSocketServer(command, options, more),
      close: () => removeFolder(path),
    };
  }

  /** What `--version` says in place of the last word of the command, which is the subcommand. */
  async version() {
    const [program, ...rest] = this.command;
    try {
      const options = { timeout: 10_000, cwd: root };
      const { stdout } = await promisify(execFile)(program, [...rest.slice(0, -1), "--version"], options);
      return stdout.trim().split("\n")[0] || "unknown version";
    } catch {
      return "unknown version";
    }
  }
}

/**
 * Gives each subject a home for the time of `work`.
 * @template T
 * @param {Subject[]} subjects
 * @param {HomeOptions | ((name: string) => HomeOptions)} options
 * @param {(homes: Home[]) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withHomes(subjects, options, work) {
  const homes = subjects.map((subject) =>
    subject.home(typeof options === "function" ? options(subject.name) : options),
  );
  try {
    return await work(homes);
  } finally {
    for (const home of homes) home.close();
  }
}

/**
 * @param {string[]} command
 * @param {string} folder
 */
function copyProgram([program, ...rest], folder) {
  // One that is looked up on the PATH may be a script or a launcher; then a copy would change nothing.
  if (!isAbsolute(program)) return [program, ...rest];
  // Under its own name: some programs look at that.
  const copy = join(folder, "alone", basename(program));
  mkdirSync(dirname(copy));
  copyFileSync(program, copy);
  return [copy, ...rest];
}

/** @param {string} modelUrl @param {string} sandbox */
const configFor = (modelUrl, sandbox) => `model = "mock-model"
model_provider = "mock"
approval_policy = "never"
sandbox_mode = "${sandbox}"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.mock]
name = "Mock"
base_url = "${modelUrl}"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false
`;

/**
 * A command line as a person types it: words, with quotes around those that hold spaces. `node` is this
 * Node, so that ours and the floor run on the same one; a file of the project is found from any folder.
 * @param {string} line
 */
export function commandOf(line) {
  const words = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((m) => m[1] ?? m[2] ?? m[3]);
  if (words.length === 0) throw new Error("a server command is empty");
  return words.map((word, i) => {
    if (i === 0 && word === "node") return process.execPath;
    const inProject = join(root, word);
    return !word.startsWith("/") && /[/.]/.test(word) && existsSync(inProject) ? inProject : word;
  });
}
