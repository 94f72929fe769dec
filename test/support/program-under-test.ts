import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const MODULES = fileURLToPath(new URL("../../node_modules", import.meta.url));

export interface Ran {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly stdin?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The user to run as. Only root may set it. */
  readonly uid?: number;
}

/** For tests: the bundled program with a temporary folder, which contains its home. */
export class ProgramUnderTest {
  readonly folder: string;
  readonly home: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.home = join(folder, "home");
  }

  static async build(): Promise<ProgramUnderTest> {
    const program = new ProgramUnderTest(await mkdtemp(join(tmpdir(), "bobbin-cli-")));
    // Other users must be able to run the program.
    await chmod(program.folder, 0o755);
    await build({
      entryPoints: [fileURLToPath(new URL("../../packages/host/src/cli/bobbin.ts", import.meta.url))],
      outfile: program.path,
      bundle: true,
      format: "cjs",
      platform: "node",
      target: "node20",
      logLevel: "error",
      // As in the real bundle: packages with native parts are not bundled.
      external: ["@photostructure/sqlite"],
      supported: { "dynamic-import": false },
    });
    return program;
  }

  get path(): string {
    return join(this.folder, "bobbin.cjs");
  }

  start(args: readonly string[], options: RunOptions = {}): ChildProcessWithoutNullStreams {
    const { NO_COLOR: _, FORCE_COLOR: __, ...inherited } = process.env;
    return spawn(process.execPath, [this.path, ...args], {
      cwd: options.cwd ?? this.folder,
      // The bundle is outside of the project, so it needs the path of the packages that are not bundled.
      env: { ...inherited, NODE_PATH: MODULES, BOBBIN_HOME: this.home, ...options.env },
      ...(options.uid !== undefined && { uid: options.uid, gid: options.uid }),
    });
  }

  async run(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    const child = this.start(args, options);
    child.stdin.end(options.stdin ?? "");
    return await ended(child);
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

export function ended(child: ChildProcessWithoutNullStreams): Promise<Ran> {
  let stdout = "";
  let stderr = "";
  child.stdin.on("error", () => {}); // The program may exit before it has read everything.
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}

/** Resolves when the stream has contained the text `what`. */
export function says(stream: NodeJS.ReadableStream, what: string): Promise<void> {
  let heard = "";
  return new Promise((resolve, reject) => {
    stream.on("data", (text: string | Buffer) => {
      heard += String(text);
      if (heard.includes(what)) resolve();
    });
    stream.on("end", () => reject(new Error(`ended without saying ${JSON.stringify(what)}: ${heard}`)));
  });
}
