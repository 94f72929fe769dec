import { Accounts } from "../account/current-account.ts";
import { readCredentialStores } from "../config/credential-settings.ts";
import { homeDirectory } from "../config/home-folder.ts";
import { loadConfig } from "../config/load-config.ts";
import { readLogin } from "../config/login-settings.ts";
import { openCredentials } from "../credentials/open-credentials.ts";
import { buildProviders } from "../model/providers.ts";
import { nodePlatform } from "../platform/node.ts";
import { CredentialFiles } from "../store/files/credential-files.ts";
import { McpOAuth } from "../tool/mcp/oauth/mcp-oauth.ts";
import { BOBBIN_VERSION } from "../version.ts";
import {
  configFinding,
  gitFinding,
  homeFinding,
  modelFinding,
  nodeFinding,
  toolServersFinding,
} from "./doctor-basic-checks.ts";
import { type Check, checkAll, type Finding } from "./doctor-check-runner.ts";
import { keysFinding } from "./doctor-config-keys.ts";
import { credentialsFinding } from "./doctor-credentials.ts";
import { environmentFinding } from "./doctor-environment.ts";
import { mcpChecks } from "./doctor-mcp-servers.ts";
import { portFinding } from "./doctor-port.ts";
import { sandboxFinding } from "./doctor-sandbox.ts";
import { requestToolset } from "./request-toolset.ts";
import { escapeControls, Output } from "./terminal-output.ts";
import { tryMcpServer } from "./try-mcp-server.ts";

/** The port on which `npm start` listens. */
const DEFAULT_PORT = 4545;

/** Time limit for a tool server's reply. Shorter than the one of a check, so that the check can report it. */
const TOOL_SERVER_MS = 2_500;

/** Time limit of the credentials check. Longer than the wait for a keyring that does not answer. */
const CREDENTIALS_MS = 10_000;

/** Checks everything that a host depends on, and prints the findings. Resolves with the exit code. */
export async function doctor(options: { json?: boolean; config?: readonly string[] }): Promise<number> {
  const stdout = new Output(process.stdout);
  const home = homeDirectory();
  const platform = nodePlatform();
  // Several checks await the configuration, and each reports a failure in its own words.
  const config = loadConfig(platform.files, home, options.config ?? []);
  config.catch(() => {});
  // This check may create the home and remove it again. A sandbox, which hides the home, can only be set up
  // afterwards.
  const homeChecked = homeFinding(home);
  const afterHome = () => homeChecked.catch(() => {});
  const known = await config.catch(() => undefined);
  const settings = known?.credentials ?? readCredentialStores({});
  const credentials = openCredentials({
    home,
    platform,
    texts: new CredentialFiles(home, platform),
    settings: () => settings,
  });
  const auth = new McpOAuth({ platform, store: credentials.mcp });
  const login = known?.login ?? readLogin({});
  const keys = new Accounts({ platform, store: credentials.account, login: () => login });
  const checks: readonly Check[] = [
    { name: "node", needed: true, look: async () => nodeFinding(process.versions.node) },
    { name: "home", needed: true, look: () => homeChecked },
    { name: "config", needed: true, look: () => configFinding(home, config) },
    { name: "keys", needed: false, look: () => keysFinding(platform.files, home, options.config ?? []) },
    {
      name: "credentials",
      needed: false,
      deadlineMs: CREDENTIALS_MS,
      look: () => credentialsFinding(home, settings, credentials),
    },
    {
      name: "model",
      needed: true,
      look: (signal) =>
        modelFinding(
          config,
          (all) => buildProviders(all, platform, keys),
          { env: process.env, keys },
          signal,
        ),
    },
    {
      name: "tools",
      needed: false,
      look: () =>
        toolServersFinding(
          config,
          (server) => requestToolset(server, platform, process.env, TOOL_SERVER_MS),
          process.env,
        ),
    },
    ...(known === undefined
      ? []
      : mcpChecks(known, (server, timeoutMs) => tryMcpServer(server, { platform, auth }, timeoutMs))),
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
    const [first = "", ...more] = found.split("\n").map(escapeControls);
    lines.push(`  ${marks[status]} ${name.padEnd(width)}${first}`);
    lines.push(...more.map((line) => `    ${" ".repeat(width)}${line}`));
    if (advice !== undefined) lines.push(`    ${" ".repeat(width)}${out.dim(`→ ${escapeControls(advice)}`)}`);
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
