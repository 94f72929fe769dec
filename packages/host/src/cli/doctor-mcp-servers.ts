import type { Config } from "../config/config.ts";
import { FewAtOnce } from "../platform/concurrency-limit.ts";
import type { McpServerSettings } from "../tool/mcp/mcp-server-settings.ts";
import type { Check, Verdict } from "./doctor-check-runner.ts";
import { mcpProblem } from "./mcp-advice.ts";
import type { McpTrial } from "./try-mcp-server.ts";

/** Limit on servers that are tried in parallel: each may start a program that is downloaded first, as by npx. */
const AT_ONCE = 3;
const SERVER_MS = 15_000;
/** Time limit of one check, including the wait until fewer than AT_ONCE other servers are being tried. */
const ALL_MS = 120_000;

/** Creates one check per MCP server, which connects to the server and lists its tools. */
export function mcpChecks(
  { mcp: { servers, problems } }: Pick<Config, "mcp">,
  attempt: (server: McpServerSettings, timeoutMs: number) => Promise<McpTrial>,
): readonly Check[] {
  const lanes = new FewAtOnce(AT_ONCE);
  const left = problems.map((problem) => ({ works: false, found: problem, advice: "Correct config.toml." }));
  const none = { works: true, found: "none configured" };
  const general = servers.length === 0 && left.length === 0 ? [none] : left;
  return [
    ...general.map((verdict) => ({ name: "mcp", needed: false, look: async () => verdict })),
    ...servers.map((server) => ({
      name: `mcp ${server.name}`,
      needed: false,
      deadlineMs: ALL_MS,
      look: () => (server.enabled ? lanes.run(() => finding(server, attempt)) : Promise.resolve(DISABLED)),
    })),
  ];
}

const DISABLED: Verdict = { works: true, found: "disabled" };

async function finding(
  server: McpServerSettings,
  attempt: (server: McpServerSettings, timeoutMs: number) => Promise<McpTrial>,
): Promise<Verdict> {
  const tried = await attempt(server, Math.min(server.startupTimeoutMs, SERVER_MS));
  if (!tried.works) {
    const { found, advice } = await mcpProblem(server, tried);
    return { works: false, found: found.replace(/\s*\n\s*/g, " "), advice };
  }
  const { length } = tried.offered.tools;
  return { works: true, found: `${length === 1 ? "1 tool" : `${length} tools`}, in ${tried.ms.connect} ms` };
}
