import { stat } from "node:fs/promises";
import type { Accounts } from "../account/current-account.ts";
import type { Config } from "../config/config.ts";
import { configPath } from "../config/config-file.ts";
import { type ModelProvider, OFFLINE_MODEL } from "../model/model.ts";
import type { Environment, ProviderSettings } from "../model/provider-settings.ts";
import type { ToolServerSettings } from "../tool/rap/rap-settings.ts";
import type { Offer } from "../tool/rap/server-catalog.ts";
import type { Verdict } from "./doctor-check-runner.ts";
import { checkHome } from "./home-check.ts";
import { hasStoredKey, modelProblem } from "./model-problem.ts";
import { toolServerAdvice } from "./request-toolset.ts";
import { tryProgram } from "./try-program.ts";

const NODE_NEEDED = [20, 19] as const;

export function nodeFinding(version: string): Verdict {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [needMajor, needMinor] = NODE_NEEDED;
  if (major > needMajor || (major === needMajor && minor >= needMinor))
    return { works: true, found: version };
  return {
    works: false,
    found: `${version} is too old`,
    advice: `Install Node ${needMajor}.${needMinor} or newer from https://nodejs.org.`,
  };
}

/** Checks whether threads can be stored in a home. Removes the folders that it creates. */
export async function homeFinding(home: string): Promise<Verdict> {
  const { problem, existed, undo } = await checkHome(home);
  await undo();
  if (problem !== undefined) return { works: false, ...problem };
  return { works: true, found: existed ? home : `${home} (created when it is first needed)` };
}

export async function configFinding(home: string, config: Promise<Config>): Promise<Verdict> {
  const file = configPath(home);
  try {
    await config;
  } catch (cause) {
    const { message } = cause as Error;
    return { works: false, found: message, advice: `Correct ${file} or the -c option.` };
  }
  const there = await stat(file).catch(() => undefined);
  return { works: true, found: there ? file : "no config.toml: the defaults" };
}

/** Checks whether the configured model can be used. The provider may make a request for that. */
export async function modelFinding(
  config: Promise<Config>,
  build: (all: readonly ProviderSettings[]) => readonly ModelProvider[],
  { env, keys }: { readonly env: Environment; readonly keys: Pick<Accounts, "has"> },
  signal: AbortSignal,
): Promise<Verdict> {
  let wanted: Config;
  try {
    wanted = await config;
  } catch {
    return { works: false, found: "not known", advice: "Correct the configuration first." };
  }
  const problem = modelProblem(wanted, env, await hasStoredKey(wanted, keys));
  if (problem !== undefined) return { works: false, ...problem };
  const { model, modelProvider } = wanted;
  try {
    await build(wanted.modelProviders)
      .find(({ id }) => id === modelProvider)
      ?.check?.(signal);
  } catch (cause) {
    return {
      works: false,
      found: `${modelProvider} cannot be used: ${oneLine((cause as Error).message)}`,
      advice: "Check the network, and the address and key in config.toml, or use model_provider=offline.",
    };
  }
  if (modelProvider === OFFLINE_MODEL) {
    return { works: true, found: "offline: built in, needs no key and no network" };
  }
  return { works: true, found: `${model} (${modelProvider})` };
}

/** Checks whether every configured tool server replies with its toolset. */
export async function toolServersFinding(
  config: Promise<Config>,
  ask: (server: ToolServerSettings) => Promise<Offer>,
  env: Environment,
): Promise<Verdict> {
  const { servers } = (await config.catch(() => undefined))?.rap ?? { servers: [] };
  if (servers.length === 0) return { works: true, found: "none configured" };
  const offers = await Promise.all(servers.map(async (server) => ({ server, offer: await ask(server) })));
  for (const { server, offer } of offers) {
    if (offer.kind === "ready") continue;
    const advice = toolServerAdvice(server, offer, env) ?? "See bobbin tools.";
    return { works: false, found: oneLine(`${server.name} at ${server.url}: ${offer.says}`), advice };
  }
  return { works: true, found: servers.map(({ name }) => name).join(", ") };
}

export async function gitFinding(signal: AbortSignal): Promise<Verdict> {
  const result = await tryProgram("git", ["--version"], signal);
  if (result.kind === "ok") return { works: true, found: result.output.replace(/^git version /, "") };
  return {
    works: false,
    found: result.kind === "missing" ? "not found" : `does not run: ${result.why}`,
    advice: "Install git: threads then know their branch and their changes.",
  };
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, " ").trim();
}
