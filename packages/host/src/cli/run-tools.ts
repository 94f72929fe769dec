import { join } from "node:path";
import type { RapServer } from "@bobbin/protocol";
import { homeDirectory } from "../config/home.ts";
import { loadConfig } from "../config/load.ts";
import { countOf, type Outside, outsideOf } from "../core/rap/outside.ts";
import { fileJournal } from "../journal/file.ts";
import { recall } from "../journal/recall.ts";
import { logFor } from "../observe/log.ts";
import { nodePlatform } from "../platform/node.ts";
import type { Platform } from "../platform/platform.ts";
import { ownNames, ownTools } from "../tool/own-tools.ts";
import { bind, takenByHost } from "../tool/rap/binding.ts";
import { serverView } from "../tool/rap/server-view.ts";
import { adviceFor, askToolServer } from "./ask-tool-server.ts";
import { harmless, Output } from "./terminal.ts";

const PATIENCE_MS = 5000;

/** Shows what tool servers there are. Resolves with the exit code. */
export async function tools(options: { json?: boolean; config?: readonly string[] }): Promise<number> {
  const stdout = new Output(process.stdout);
  const home = homeDirectory();
  const platform = nodePlatform();
  const config = await loadConfig(platform.files, home, options.config ?? []);
  const { rap } = config;
  const [offered, outside] = await Promise.all([
    Promise.all(
      rap.servers.map(async (server) => {
        const offer = await askToolServer(server, platform, process.env, PATIENCE_MS);
        return { server, offer };
      }),
    ),
    underWay(home, platform),
  ]);
  // Threads have more: what their clients bring along. That is not known here.
  const own = ownNames(
    ownTools(
      platform,
      () => ({ files: platform.files, hasFiles: true, checkPath: async () => {} }),
      config.maxGoalTokenBudget,
    ),
  );
  const { missing } = bind(offered, takenByHost(own));
  const servers = offered.map(({ server, offer }): RapServer => {
    const count = (kind: keyof Outside): number =>
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
      offered.map(({ server, offer }) => [server.name, adviceFor(server, offer, process.env)]),
    );
    stdout.write(forPeople(servers, advice, stdout));
  }
  await stdout.flushed();
  return servers.every(({ health }) => health === "ready") && missing.size === 0 ? 0 : 1;
}

/** What tool servers have of the threads that hosts hold here, or left for the next one. */
async function underWay(home: string, platform: Platform): Promise<readonly Outside[]> {
  const log = logFor(process.env, "error", (text) => void process.stderr.write(text));
  const journal = fileJournal(home, platform, log, async () => {});
  const found: Outside[] = [];
  for (const { name } of await platform.files.list(join(home, "live"))) {
    if (name.includes(".")) continue;
    const reader = await journal.read(name).catch(() => undefined);
    if (reader === undefined) continue;
    const head = await recall(reader).finally(() => reader.close());
    if (head !== undefined) found.push(outsideOf(head.state));
  }
  return found;
}

function forPeople(
  servers: readonly RapServer[],
  advice: ReadonlyMap<string, string | undefined>,
  out: Output,
): string {
  if (servers.length === 0)
    return "\n  No tool servers are configured; see [rap_servers.NAME] in docs/rap-host.md.\n\n";
  const lines: string[] = [""];
  for (const { name, url, health, error, tools: all, pendingCalls, subscriptions } of servers) {
    const mark = health === "ready" ? out.green("✓") : out.red("✗");
    lines.push(`  ${mark} ${out.bold(harmless(name))}  ${harmless(url)}  ${health}`);
    if (error !== null) lines.push(`    ${out.red(harmless(error))}`);
    const help = advice.get(name);
    if (help !== undefined) lines.push(`    ${out.dim(`→ ${harmless(help)}`)}`);
    lines.push(out.dim(`    calls under way: ${pendingCalls}, subscriptions: ${subscriptions}`));
    const width = Math.max(0, ...all.map((tool) => tool.name.length)) + 2;
    for (const { name: tool, description, reason } of all) {
      const says = reason === null ? (description ?? "").split("\n", 1)[0]! : `not available: ${reason}`;
      lines.push(`    ${harmless(tool).padEnd(width)}${harmless(says).slice(0, 100)}`);
    }
    lines.push("");
  }
  return `${lines.join("\n")}\n`;
}
