import type { Config } from "../config/config.ts";
import { configPath } from "../config/config-file.ts";
import type { AuthFlags } from "../server/listen/auth-flags.ts";
import type { Listener } from "../server/listen/listener.ts";
import { isWildcard, localUrl } from "./console-link.ts";
import { checkHome } from "./home-check.ts";
import { hasStoredKey, modelProblem } from "./model-problem.ts";
import type { Problem } from "./problem-and-advice.ts";

/** The problems that keep a host from working, by area. */
export type StartupProblems = Readonly<Partial<Record<"home" | "config" | "model", Problem>>>;

/** Finds the problems that would keep a host from working. Creates the home if it does not exist. */
export async function findStartupProblems(
  home: string,
  config: Config,
  wrongConfig: string | null,
): Promise<StartupProblems> {
  const { problem: unusable } = await checkHome(home);
  // With an invalid config.toml, the defaults are used, so a check of the model would check the wrong one.
  const unasked = wrongConfig === null ? await missingModel(home, config) : undefined;
  return {
    ...(unusable && { home: unusable }),
    ...(wrongConfig !== null && {
      config: {
        found: wrongConfig,
        advice: `Correct ${configPath(home)} and start again. No thread can be loaded until then.`,
      },
    }),
    ...(unasked && { model: unasked }),
  };
}

/**
 * Why the model cannot be used. Looks for a stored key only if no other key is set, so that most starts load no
 * account code.
 */
async function missingModel(home: string, config: Config): Promise<Problem | undefined> {
  if (modelProblem(config, process.env) === undefined) return undefined;
  const { openAccounts } = await import("./account-context.ts");
  return modelProblem(config, process.env, await hasStoredKey(config, openAccounts(home, config).accounts));
}

/**
 * The text that is printed on a terminal when the server has started. `link`: opens the console. Without it, the text
 * names the command that makes a link. `auth`: how clients authenticate.
 */
export function welcomeMessage(
  listeners: readonly Listener[],
  home: string,
  config: Config,
  problems: StartupProblems,
  auth: AuthFlags,
  link?: string,
): string {
  const wrong = Object.entries(problems);
  const lines = [
    "",
    wrong.length === 0 ? "  Bobbin is listening." : "  Bobbin is listening, but is not ready.",
    "",
  ];
  for (const [name, { found, advice }] of wrong) {
    const indent = " ".repeat(13);
    lines.push(`    ✗ ${name.padEnd(7)}${found.replaceAll("\n", `\n${indent}`)}`, `${indent}→ ${advice}`);
  }
  if (wrong.length > 0) lines.push("");
  const addresses = listeners.map(({ url }) => `    address  ${url}${isWildcard(url) ? ALL_ADDRESSES : ""}`);
  lines.push(...addresses, `    home     ${home}`);
  // The model is not shown if the configuration or the model itself has a problem.
  if (problems.config === undefined && problems.model === undefined)
    lines.push(`    model    ${modelOf(config)}`);
  lines.push("");
  const url = listeners.find((listener) => listener.url.startsWith("ws://"))?.url;
  if (wrong.length > 0) lines.push("  For more about this machine:  bin/bobbin doctor", "");
  else if (url !== undefined) {
    lines.push(
      "  Three things to try:",
      "",
      link === undefined
        ? "    1. For the console in a browser:  bin/bobbin open"
        : `    1. Open ${link} in a browser.`,
      '    2. In another terminal:  bin/bobbin exec "Hello, who are you?"',
      `    3. Connect a client:     ${clientCommand(localUrl(url), auth)}`,
      "",
    );
  }
  lines.push("  Ctrl-C stops it.", "", "");
  return lines.join("\n");
}

const ALL_ADDRESSES = ", and every other address of this machine";

/** The command that connects the Codex CLI, with a token if the listener requires one. */
function clientCommand(url: string, auth: AuthFlags): string {
  if (auth.wsAuth === undefined) return `codex --remote ${url}`;
  return `BOBBIN_TOKEN=${tokenOf(auth)} \\\n      codex --remote ${url} --remote-auth-token-env BOBBIN_TOKEN`;
}

/** How a shell gets a token for the listener. */
function tokenOf({ wsTokenFile, wsSharedSecretFile, wsIssuer, wsAudience }: AuthFlags): string {
  if (wsTokenFile !== undefined) return `"$(cat ${quoted(wsTokenFile)})"`;
  if (wsSharedSecretFile === undefined) return "YOUR_TOKEN";
  const named = [
    ...["--secret-file", wsSharedSecretFile],
    ...(wsIssuer === undefined ? [] : ["--issuer", wsIssuer]),
    ...(wsAudience === undefined ? [] : ["--audience", wsAudience]),
  ];
  return `"$(bin/bobbin token sign --host-user ${named.map(quoted).join(" ")})"`;
}

/** A text as one word for a shell. */
function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function modelOf({ model, modelProvider }: Config): string {
  if (modelProvider === "offline") return `${model}: built in, needs no key and no network`;
  return `${model} (${modelProvider})`;
}
