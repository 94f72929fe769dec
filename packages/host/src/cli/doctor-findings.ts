import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { type ModelProvider, OFFLINE_MODEL } from "../model/model.ts";
import type { ProviderSettings } from "../model/provider-settings.ts";
import type { Verdict } from "./doctor-check.ts";
import { tryCommand } from "./doctor-command.ts";

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

export async function configFinding(home: string, config: Promise<Config>): Promise<Verdict> {
  const file = join(home, "config.toml");
  try {
    await config;
  } catch (cause) {
    const { message } = cause as Error;
    return { works: false, found: oneLine(message), advice: `Correct it in ${file}, or in the -c option.` };
  }
  const there = await stat(file).catch(() => undefined);
  return { works: true, found: there ? file : "no config.toml: the defaults" };
}

/** Whether the configured model can be asked. The provider answers for itself. */
export async function modelFinding(
  config: Promise<Config>,
  build: (all: readonly ProviderSettings[]) => readonly ModelProvider[],
  signal: AbortSignal,
): Promise<Verdict> {
  let wanted: Config;
  try {
    wanted = await config;
  } catch {
    return { works: false, found: "not known", advice: "Correct the configuration first." };
  }
  const { model, modelProvider } = wanted;
  const known = build(wanted.modelProviders);
  const provider = known.find(({ id }) => id === modelProvider);
  if (provider === undefined) {
    return {
      works: false,
      found: `the model provider ${modelProvider} is not known`,
      advice: `Set model_provider to one of these: ${known.map(({ id }) => id).join(", ")}.`,
    };
  }
  try {
    await provider.check?.(signal);
  } catch (cause) {
    return {
      works: false,
      found: `${modelProvider} can not be asked: ${oneLine((cause as Error).message)}`,
      advice: "Look at the network, the address and the key in config.toml, or use model_provider=offline.",
    };
  }
  if (modelProvider === OFFLINE_MODEL) {
    return { works: true, found: "offline: built in, needs no key and no network" };
  }
  return { works: true, found: `${model} (${modelProvider})` };
}

export async function gitFinding(signal: AbortSignal): Promise<Verdict> {
  const result = await tryCommand("git", ["--version"], signal);
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
