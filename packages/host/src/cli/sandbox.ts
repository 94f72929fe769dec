import { spawn } from "node:child_process";
import { constants } from "node:os";
import { resolve } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { SandboxPolicy } from "@bobbin/protocol";
import type { Config } from "../config/config.ts";
import { homeDirectory } from "../config/home-folder.ts";
import { hostSecretNames } from "../config/host-secret-names.ts";
import { loadConfig } from "../config/load-config.ts";
import { allowedProfiles } from "../config/requirements.ts";
import { configInFolder } from "../config/trust-defaults.ts";
import { withoutInherited } from "../platform/inherited-descriptors.ts";
import { nodePlatform } from "../platform/node.ts";
import { byteStream } from "../platform/node-byte-stream.ts";
import type { ByteStream, ProgramStart } from "../platform/platform.ts";
import { userEnvironment } from "../process/user-program-environment.ts";
import { type ConfinedCommand, createSandbox } from "../sandbox/sandbox.ts";
import { trustIn } from "../tool/consent/project-trust-lookup.ts";
import { explainSandbox } from "./explain-sandbox.ts";
import { serveSandboxNetwork } from "./sandbox-network.ts";
import { Output } from "./terminal-output.ts";

export interface SandboxOptions {
  readonly words: readonly string[];
  readonly explain?: boolean;
  readonly readOnly?: boolean;
  readonly workspaceWrite?: boolean;
  readonly addDir?: readonly string[];
  readonly network?: boolean;
  readonly git?: boolean;
  readonly cd?: string;
  readonly config?: readonly string[];
}

const NO_SANDBOX = 126;
const NOT_FOUND = 127;

/** Runs a command in the sandbox, or shows what it could do. Resolves with the exit code. */
export async function sandbox(options: SandboxOptions, refuse: (problem: string) => never): Promise<number> {
  const [file, ...args] = options.words;
  if (file === undefined && !options.explain)
    refuse("missing required argument 'command': bobbin sandbox -- COMMAND");
  if (file === "") refuse("the command is empty: bobbin sandbox -- COMMAND");
  const home = homeDirectory();
  const platform = nodePlatform();
  const loaded = await loadConfig(platform.files, home, options.config ?? []);
  const cwd = resolve(options.cd ?? ".");
  const config = configInFolder(await trustIn(platform.files, cwd, loaded.projects), loaded);
  const confining = createSandbox({
    platform,
    home,
    profiles: () => allowedProfiles(config),
    networkHosts: () => config.networkProxy,
  });
  const command: ConfinedCommand = {
    program: {
      argv: [file ?? "true", ...args],
      cwd,
      env: userEnvironment(process.env, hostSecretNames(config), {}),
      stdin: "closed",
      // The command inherits this terminal, so the size here is never used.
      tty: process.stdin.isTTY ? { cols: 80, rows: 24 } : undefined,
    },
    policy: policyOf(options, config),
    profile: options.readOnly || options.workspaceWrite ? null : config.sandbox.permissionProfile,
    roots: [cwd],
    gitWritable: options.git === true,
    byHost: true,
  };
  const stdout = new Output(process.stdout);
  const stderr = new Output(process.stderr);
  if (options.explain) {
    const out = file === undefined ? stdout : stderr;
    out.write(explainSandbox(command, await confining.access(command), await confining.problem(), out));
    await out.flushed();
    if (file === undefined) return 0;
  }
  const confined = await confining.confine(command);
  if (confined.kind === "unavailable") {
    stderr.line(`bobbin: the command was not run, because ${confined.reason}.`);
    stderr.line(confined.advice);
    return NO_SANDBOX;
  }
  try {
    return await run(confined.program, (channel) =>
      serveSandboxNetwork({ home, platform, config, cwd, hosts: confined.hosts! }, channel),
    );
  } catch (cause) {
    stderr.line(`bobbin: ${file} could not be started: ${(cause as Error).message}`);
    return NOT_FOUND;
  } finally {
    await confined.release();
  }
}

function policyOf(options: SandboxOptions, config: Config): SandboxPolicy {
  const roots = (options.addDir ?? []).map((folder) => resolve(folder));
  const configured = config.sandbox.sandbox;
  const chosen: SandboxPolicy = options.readOnly
    ? { type: "readOnly", networkAccess: false }
    : options.workspaceWrite
      ? config.workspaceWrite
      : configured;
  switch (chosen.type) {
    case "readOnly":
      return options.network ? { ...chosen, networkAccess: true } : chosen;
    case "workspaceWrite":
      return {
        ...chosen,
        writableRoots: [...(chosen.writableRoots ?? []), ...roots],
        ...(options.network ? { networkAccess: true } : {}),
      };
    case "dangerFullAccess":
    case "externalSandbox":
      return chosen;
  }
}

/** Runs the program with this process's stdio. `serve` handles its network channel, if it has one. */
function run(
  { argv, cwd, env, inputs = [], channel = false, descriptors = [] }: ProgramStart,
  serve: (channel: ByteStream) => { close(): void },
): Promise<number> {
  const [file, ...args] = argv;
  return new Promise((done, fail) => {
    const child = spawn(file, args, {
      cwd,
      env,
      stdio: withoutInherited([
        "inherit",
        "inherit",
        "inherit",
        ...inputs.map(() => "pipe" as const),
        ...(channel ? (["pipe", "pipe"] as const) : []),
        ...descriptors,
      ]),
    });
    const [output, input] = child.stdio.slice(3 + inputs.length);
    const network = channel ? serve(byteStream(input as Readable, output as Writable)) : undefined;
    inputs.forEach((bytes, nth) => {
      const pipe = child.stdio[3 + nth] as Writable | null | undefined;
      pipe?.on("error", () => {});
      pipe?.end(bytes);
    });
    // The terminal sends Ctrl-C to the command as well. The command decides whether to end.
    const ignore = (): void => {};
    process.on("SIGINT", ignore);
    child.once("error", fail);
    child.once("exit", (code, signal) => {
      process.off("SIGINT", ignore);
      network?.close();
      done(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}
