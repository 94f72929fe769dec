import { homeDirectory } from "../config/home.ts";
import { loadConfig } from "../config/load.ts";
import { buildProviders } from "../model/providers.ts";
import { nodePlatform } from "../platform/node.ts";
import { BOBBIN_VERSION } from "../version.ts";
import { askToolServer } from "./ask-tool-server.ts";
import { type Check, checkAll, type Finding } from "./doctor-check.ts";
import { environmentFinding } from "./doctor-environment.ts";
import {
  configFinding,
  gitFinding,
  homeFinding,
  modelFinding,
  nodeFinding,
  toolServersFinding,
} from "./doctor-findings.ts";
import { portFinding } from "./doctor-port.ts";
import { sandboxFinding } from "./doctor-sandbox.ts";
import { harmless, Output } from "./terminal.ts";

/** Where `npm start` listens. */
const DEFAULT_PORT = 4545;

/** Shorter than a check may take. */
const TOOL_SERVER_MS = 2_500;

/** Looks at everything that a host leans on. Resolves with the exit code. */
export async function doctor(options: { json?: boolean; config?: readonly string[] }): Promise<number> {
  const stdout = new Output(process.stdout);
  const home = homeDirectory();
  const platform = nodePlatform();
  // Two checks need it, and each tells its own side of a failure.
  const config = loadConfig(platform.files, home, options.config ?? []);
  config.catch(() => {});
  // It makes a home and removes it again: a sandbox that hides the home must not be set up in between.
  const homeChecked = homeFinding(home);
  const afterHome = () => homeChecked.catch(() => {});
  const checks: readonly Check[] = [
    { name: "node", needed: true, look: async () => nodeFinding(process.versions.node) },
    { name: "home", needed: true, look: () => homeChecked },
    { name: "config", needed: true, look: () => configFinding(home, config) },
    {
      name: "model",
      needed: true,
      look: (signal) => modelFinding(config, (all) => buildProviders(all, platform), process.env, signal),
    },
    {
      name: "tools",
      needed: false,
      look: () =>
        toolServersFinding(
          config,
          (server) => askToolServer(server, platform, process.env, TOOL_SERVER_MS),
          process.env,
        ),
    },
    {
      name: "environment",
      needed: false,
      look: (signal) => afterHome().then(() => environmentFinding(config, { platform, home }, signal)),
    },
    {
      name: "sandbox",
      needed: false,
      look: (signal) => afterHome().then(() => sandboxFinding(platform, home, signal)),
    },
    { name: "port", needed: false, look: (signal) => portFinding(DEFAULT_PORT, signal) },
    { name: "git", needed: false, look: gitFinding },
  ];
  const findings = await checkAll(checks);
  const ok = findings.every((finding) => finding.status !== "failed");
  if (options.json) {
    const report = { ok, version: BOBBIN_VERSION, home, checks: findings };
    stdout.line(JSON.stringify(report, null, 2));
  } else stdout.write(forPeople(findings, stdout));
  await stdout.flushed();
  return ok ? 0 : 1;
}

function forPeople(findings: readonly Finding[], out: Output): string {
  const marks = { ok: out.green("✓"), warning: out.yellow("!"), failed: out.red("✗") };
  const width = Math.max(...findings.map(({ name }) => name.length)) + 2;
  const lines = ["", `  ${out.bold(`Bobbin ${BOBBIN_VERSION}`)} on this machine`, ""];
  for (const { name, status, found, advice } of findings) {
    lines.push(`  ${marks[status]} ${name.padEnd(width)}${harmless(found)}`);
    if (advice !== undefined) lines.push(`    ${" ".repeat(width)}${out.dim(`→ ${harmless(advice)}`)}`);
  }
  return [...lines, "", `  ${verdict(findings)}`, "", ""].join("\n");
}

function verdict(findings: readonly Finding[]): string {
  const failed = findings.filter(({ status }) => status === "failed").map(({ name }) => name);
  const warnings = findings.filter(({ status }) => status === "warning").length;
  if (failed.length > 0) return `Not ready. Fix this first: ${failed.join(", ")}.`;
  if (warnings === 0) return "Everything works.";
  return `Ready, with ${warnings === 1 ? "one warning" : `${warnings} warnings`}.`;
}
