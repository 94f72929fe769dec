import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { HostOptions } from "../compose.ts";
import { homeDirectory } from "../config/home-folder.ts";
import { etcFolder } from "../config/layer-files.ts";
import { loadConfig } from "../config/load-config.ts";
import { OFFLINE_MODEL } from "../model/model.ts";
import type { Log } from "../observe/log.ts";
import { nodePlatform } from "../platform/node.ts";
import { type Access, type AccessOptions, readAccess } from "./exec-access-options.ts";
import { askTrust } from "./exec-trust-question.ts";
import { type HostChoiceOptions, hostChoice } from "./host-choice.ts";
import { modelProblem } from "./model-problem.ts";
import type { TerminalUser } from "./terminal-questions.ts";

/** The options that `exec` and `chat` share. */
export interface TurnOptions extends AccessOptions, HostChoiceOptions {
  readonly cd?: string;
  readonly addDir?: readonly string[];
}

/** Reports wrong usage like the command line parser, and throws. */
export type Refuse = (problem: string) => never;

export interface TurnSetup {
  readonly home: string;
  readonly cwd: string;
  readonly access: Access;
  readonly addedRoots: readonly string[];
  /** Whether a running host may be used instead of one in this process. */
  readonly mayRunElsewhere: boolean;
  /**
   * Asks the person on the terminal, if there is one, whether an unknown folder is trusted. Resolves with the options
   * for a host in this process.
   */
  hostOptions(person: TerminalUser | undefined, signal: AbortSignal, log: Log): Promise<HostOptions>;
}

/** Reads the configuration and the options of `exec` or `chat`. Calls `refuse` for invalid options. */
export async function readTurnSetup(options: TurnOptions, refuse: Refuse): Promise<TurnSetup> {
  const home = homeDirectory();
  const platform = nodePlatform();
  const { overrides, mayRunElsewhere } = hostChoice(options);
  const sources = { profile: options.profile ?? null, etc: etcFolder(process.env) };
  const load = () => loadConfig(platform.files, home, overrides, sources);
  const configured = await load();
  if (options.strictConfig === true) {
    const { rejectInvalidConfig } = await import("./strict-config.ts");
    await rejectInvalidConfig(platform.files, { home, overrides, ...sources });
  }
  // Checked only for the offline provider, which accepts any model name. Other providers report an invalid model
  // themselves.
  const problem =
    configured.modelProvider === OFFLINE_MODEL ? modelProblem(configured, process.env) : undefined;
  if (problem !== undefined) return refuse(`${problem.found}\n${problem.advice}`);
  const access = readAccess(options);
  if (typeof access === "string") return refuse(access);
  const cwd = await readFolder("--cd", options.cd, refuse);
  const addedRoots = await Promise.all(
    (options.addDir ?? []).map((folder) => readFolder("--add-dir", folder, refuse)),
  );
  const hostOptions: TurnSetup["hostOptions"] = async (person, signal, log) => {
    const { projects } = configured;
    const hasChanged = person && (await askTrust({ platform, home, projects }, cwd, person, signal));
    const config = hasChanged ? await load() : configured;
    return { home, cwd, config, overrides, profile: sources.profile, platform, log };
  };
  return { home, cwd, access, addedRoots, mayRunElsewhere, hostOptions };
}

async function readFolder(flag: string, asked: string | undefined, refuse: Refuse): Promise<string> {
  const folder = resolve(asked ?? "");
  const found = await stat(folder).catch(() => undefined);
  if (!found) return refuse(`${flag} ${asked}: there is no folder ${folder}`);
  if (!found.isDirectory()) return refuse(`${flag} ${asked}: ${folder} is not a folder`);
  return folder;
}
