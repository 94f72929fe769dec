import type { Config } from "../config/config.ts";
import { configPath } from "../config/config-file.ts";
import type { Door } from "../server/listen/door.ts";
import { checkHome } from "./home-check.ts";
import { modelProblem } from "./model-problem.ts";
import type { Problem } from "./problem.ts";

/** What keeps the host from working, by what it is about. */
export type Problems = Readonly<Partial<Record<"home" | "config" | "model", Problem>>>;

/** Looks for what would keep a host from working. Makes the home if it is not there. */
export async function problemsOf(
  home: string,
  config: Config,
  wrongConfig: string | null,
): Promise<Problems> {
  const { problem: unusable } = await checkHome(home);
  // Defaults stand in for a file that cannot be used: there is nothing to say about the model then.
  const unasked = wrongConfig === null ? modelProblem(config, process.env) : undefined;
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

/** What a person sees who starts the server by hand. */
export function welcome(doors: readonly Door[], home: string, config: Config, problems: Problems): string {
  const wrong = Object.entries(problems);
  const lines = [
    "",
    wrong.length === 0 ? "  Bobbin is listening." : "  Bobbin is listening, but is not ready.",
    "",
  ];
  for (const [name, { found, advice }] of wrong) {
    lines.push(`    ✗ ${name.padEnd(7)}${found}`, `      ${" ".repeat(7)}→ ${advice}`);
  }
  if (wrong.length > 0) lines.push("");
  lines.push(...doors.map((door) => `    address  ${door.url}`), `    home     ${home}`);
  // A model that does not count is not worth naming.
  if (problems.config === undefined && problems.model === undefined)
    lines.push(`    model    ${modelOf(config)}`);
  lines.push("");
  const url = doors.find((door) => door.url.startsWith("ws://"))?.url;
  if (wrong.length > 0) lines.push("  For more about this machine:  bin/bobbin doctor", "");
  else if (url !== undefined) {
    lines.push(
      "  Three things to try:",
      "",
      `    1. Open ${url.replace(/^ws:/, "http:")} in a browser.`,
      '    2. In another terminal:  bin/bobbin exec "Hello, who are you?"',
      `    3. Connect a client:     codex --remote ${url}`,
      "",
    );
  }
  lines.push("  Ctrl-C stops it.", "", "");
  return lines.join("\n");
}

function modelOf({ model, modelProvider }: Config): string {
  if (modelProvider === "offline") return `${model}: built in, needs no key and no network`;
  return `${model} (${modelProvider})`;
}
