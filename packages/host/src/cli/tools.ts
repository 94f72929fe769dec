import type { RapServer } from "@bobbin/protocol";
import { homeDirectory } from "../config/home-folder.ts";
import { loadConfig } from "../config/load-config.ts";
import {
  countOf,
  type OpenAtToolServers,
  openAtToolServers,
} from "../core/rap/open-calls-and-subscriptions.ts";
import { logFor } from "../observe/log.ts";
import { nodePlatform } from "../platform/node.ts";
import type { Platform } from "../platform/platform.ts";
import { fileJournal } from "../store/files/file-journal.ts";
import { readHead } from "../store/thread-head.ts";
import { ownNames, ownTools } from "../tool/own/own-tools.ts";
import { serverView } from "../tool/rap/server-view.ts";
import { bind, takenByHost } from "../tool/rap/toolset-binding.ts";
import { requestToolset, toolServerAdvice } from "./request-toolset.ts";
import { escapeControls, Output } from "./terminal-output.ts";
import { toolArgumentsText } from "./tool-arguments-text.ts";

/** Time limit for the reply of each server. */
const TOOL_SERVER_MS = 5000;

/** Shows the configured tool servers with their tools. Resolves with the exit code. */
export async function tools(options: { json?: boolean; config?: readonly string[] }): Promise<number> {
  const stdout = new Output(process.stdout);
  const home = homeDirectory();
  const platform = nodePlatform();
  const config = await loadConfig(platform.files, home, options.config ?? []);
  const { rap } = config;
  const [offered, outside] = await Promise.all([
    Promise.all(
      rap.servers.map(async (server) => {
        const offer = await requestToolset(server, platform, process.env, TOOL_SERVER_MS);
        return { server, offer };
      }),
    ),
    underWay(home, platform),
  ]);
  // Without the tools that clients offer in their threads, because these are unknown here.
  const own = ownNames(
    ownTools(
      platform,
      () => ({ files: platform.files, hasFiles: true, checkPath: async () => {} }),
      config.maxGoalTokenBudget,
    ),
  );
  const { missing } = bind(offered, takenByHost(own));
  const servers = offered.map(({ server, offer }): RapServer => {
    const count = (kind: keyof OpenAtToolServers): number =>
      outside.reduce((sum, of) => sum + countOf(of[kind], server.name), 0);
    return {
      ...serverView(server, offer, missing),
      pendingCalls: count("calls"),
      subscriptions: count("subscriptions"),
    };
  });
  if (options.json) stdout.line(JSON.stringify(servers, null, 2));
  else {
    const advice = new Map(
      offered.map(({ server, offer }) => [server.name, toolServerAdvice(server, offer, process.env)]),
    );
    const schemas = new Map(
      offered.flatMap(({ server, offer }) =>
        offer.kind === "ready"
          ? offer.toolset.tools.map((tool) => [`${server.name} ${tool.name}`, tool.inputSchema] as const)
          : [],
      ),
    );
    stdout.write(forPeople(servers, schemas, advice, stdout));
  }
  await stdout.flushed();
  return servers.every(({ health }) => health === "ready") && missing.size === 0 ? 0 : 1;
}

/** The pending calls and subscriptions of all threads that hosts of this home have loaded or parked. */
async function underWay(home: string, platform: Platform): Promise<readonly OpenAtToolServers[]> {
  const log = logFor(process.env, "error", (text) => void process.stderr.write(text));
  const journal = fileJournal(home, platform, log);
  const found: OpenAtToolServers[] = [];
  for (const threadId of await journal.held()) {
    const reader = await journal.read(threadId).catch(() => undefined);
    if (reader === undefined) continue;
    const head = await readHead(reader).finally(() => reader.close());
    if (head !== undefined) found.push(openAtToolServers(head.state));
  }
  return found;
}

/** `schemas`: the schemas of the tools' arguments, by server and tool. */
function forPeople(
  servers: readonly RapServer[],
  schemas: ReadonlyMap<string, unknown>,
  advice: ReadonlyMap<string, string | undefined>,
  out: Output,
): string {
  if (servers.length === 0)
    return "\n  No tool servers are configured; see [rap_servers.NAME] in docs/rap-host.md.\n\n";
  const lines: string[] = [""];
  for (const { name, url, health, error, tools: all, pendingCalls, subscriptions } of servers) {
    const mark = health === "ready" ? out.green("✓") : out.red("✗");
    lines.push(`  ${mark} ${out.bold(escapeControls(name))}  ${escapeControls(url)}  ${health}`);
    if (error !== null) lines.push(`    ${out.red(escapeControls(error))}`);
    const help = advice.get(name);
    if (help !== undefined) lines.push(`    ${out.dim(`→ ${escapeControls(help)}`)}`);
    lines.push(out.dim(`    calls under way: ${pendingCalls}, subscriptions: ${subscriptions}`));
    const width = Math.max(0, ...all.map((tool) => tool.name.length)) + 2;
    for (const { name: tool, description, reason } of all) {
      const says = reason === null ? (description ?? "").split("\n", 1)[0]! : `not available: ${reason}`;
      lines.push(`    ${escapeControls(tool).padEnd(width)}${escapeControls(says).slice(0, 100)}`);
      const takes = toolArgumentsText(schemas.get(`${name} ${tool}`));
      if (takes !== "") lines.push(out.dim(`      ${takes}`));
    }
    lines.push("");
  }
  return `${lines.join("\n")}\n`;
}
