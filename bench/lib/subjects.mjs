// The subjects of the benchmarks: ours, the peer, the floor. A subject is a command that serves on stdio, and on a
// socket with `--listen URL`. Every start gets its own home directory, and an environment without the user's keys,
// proxies and settings.
import { execFile } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { removeFolder, temporaryFolder } from "./cleanup.mjs";
import { StdioServer } from "./server-process.mjs";
import { startSocketServer } from "./socket-server.mjs";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

/**
 * @typedef {object} HomeOptions
 * @property {string} [modelUrl] URL of the model server. Without it, ours uses its built-in offline model, and the peer a
 * provider URL that does not answer
 * @property {string} [top] text for the start of config.toml; needs `modelUrl`
 * @property {string} [config] text for the end of config.toml
 * @property {string} [sandbox] the `sandbox_mode` of config.toml
 * @property {boolean} [alone] runs a copy of the executable: PSS divides the pages of an executable by the number of
 * processes that run it, and the bench itself is another Node process
 * @property {Record<string, string>} [env] further environment variables
 */

/**
 * @typedef {object} Home the home directory of one subject, for one or more starts
 * @property {"ours" | "peer" | "floor"} name of the subject
 * @property {string} path
 * @property {() => StdioServer} stdio starts the command on stdio; the caller initializes it
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
    const temporary = join(path, "temporary");
    mkdirSync(temporary);
    const command = alone ? copyProgram(this.command, path) : this.command;
    const options = {
      cwd: path,
      env: {
        PATH: process.env.PATH,
        LANG: "C.UTF-8",
        HOME: path,
        BOBBIN_HOME: path,
        CODEX_HOME: path,
        // The Codex CLI uses no sandbox if its home directory is inside the folder for temporary files.
        TMPDIR: temporary,
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

  /** Output of the command with `--version` instead of its last word, the subcommand. */
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
 * Gives each subject a home directory while `work` runs.
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
  // A program on the PATH may be a script or a launcher, for which a copy has no effect.
  if (!isAbsolute(program)) return [program, ...rest];
  // The copy keeps its name, because some programs depend on it.
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
 * Splits a command line into words, with quotes around words that contain spaces. `node` becomes the path of the
 * running Node, so that ours and the floor use the same one, and paths of the project become absolute.
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
