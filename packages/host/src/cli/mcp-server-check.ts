import type { McpServerSettings } from "../tool/mcp/mcp-server-settings.ts";
import { mcpProblem } from "./mcp-advice.ts";
import { findServer, openMcpContext } from "./mcp-context.ts";
import { commandLine } from "./mcp-list.ts";
import type { Problem } from "./problem-and-advice.ts";
import { escapeControls, Output } from "./terminal-output.ts";
import { type McpTrial, tryMcpServer } from "./try-mcp-server.ts";

/** Connects to a server, and shows what it offers or why it fails. Resolves with the exit code. */
export async function testServer(
  name: string,
  { json, config }: { readonly json?: boolean; readonly config?: readonly string[] },
): Promise<number> {
  const stdout = new Output(process.stdout);
  const context = await openMcpContext(config);
  const server = findServer(context, name);
  if (server === undefined) return 1;
  const tried = await tryMcpServer(server, { platform: context.platform, auth: context.oauth });
  await context.oauth.close();
  const problem = tried.works ? undefined : await mcpProblem(server, tried);
  if (json) stdout.line(JSON.stringify(forPrograms(server, tried, problem), null, 2));
  else stdout.write(forPeople(server, tried, problem, stdout));
  await stdout.flushed();
  return tried.works ? 0 : 1;
}

function forPrograms({ name }: McpServerSettings, tried: McpTrial, problem: Problem | undefined): object {
  if (!tried.works)
    return { name, works: false, kind: tried.error.kind, error: problem!.found, advice: problem!.advice };
  const { offered, resources, resourceTemplates, ms } = tried;
  const { tools, serverInfo, capabilities, instructions } = offered;
  const about = { serverInfo, capabilities, instructions };
  return { name, works: true, ...about, tools, resources, resourceTemplates, timingsMs: ms };
}

function forPeople(
  { name, transport, enabled }: McpServerSettings,
  tried: McpTrial,
  problem: Problem | undefined,
  out: Output,
): string {
  const place = transport.kind === "stdio" ? commandLine(transport) : transport.url;
  const mark = tried.works ? out.green("✓") : out.red("✗");
  const lines = ["", `  ${mark} ${out.bold(name)}  ${escapeControls(place)}`];
  if (!enabled) lines.push(`    ${out.yellow("It is disabled: threads do not have it (enabled = false).")}`);
  if (!tried.works) {
    const [found, ...rest] = escapeControls(problem!.found).split("\n");
    lines.push(`    ${out.red(found!)}`, ...rest.map((line) => `    ${line}`));
    lines.push(`    ${out.dim(`→ ${escapeControls(problem!.advice)}`)}`);
    return `${lines.join("\n")}\n\n`;
  }
  lines.push(...offeredLines(tried, out));
  return `${lines.join("\n")}\n\n`;
}

const LONGEST_NAME = 40;

function offeredLines(
  { offered, resources, resourceTemplates, ms }: Extract<McpTrial, { readonly works: true }>,
  out: Output,
): readonly string[] {
  const { tools, serverInfo } = offered;
  const { name, version } = serverInfo ?? {};
  const who = [name, version].filter((part) => typeof part === "string").join(" ");
  const width = Math.min(Math.max(0, ...tools.map((tool) => tool.name.length)), LONGEST_NAME) + 2;
  return [
    `    ${escapeControls(who === "" ? "it does not say its name" : who)}, connected in ${ms.connect} ms`,
    `    ${counted(tools.length, "tool")}, listed in ${ms.tools} ms`,
    ...tools.map(({ name: tool, description = "" }) => {
      const says = escapeControls(description).trim().split("\n", 1)[0]!;
      return `      ${escapeControls(tool).padEnd(width)}${out.dim(says.slice(0, 90))}`;
    }),
    ...(resources === null
      ? []
      : [
          `    ${counted(resources, "resource")}, ${counted(resourceTemplates ?? 0, "template")}, listed in ${ms.resources} ms`,
        ]),
  ];
}

function counted(count: number, what: string): string {
  return count === 1 ? `1 ${what}` : `${count} ${what}s`;
}
