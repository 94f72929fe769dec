import { resolve } from "node:path";
import type { BobbinClient } from "@bobbin/client";
import type {
  ExternalAgentConfigMigrationItem as Item,
  ExternalAgentConfigImportTypeResult as TypeResult,
} from "@bobbin/protocol";
import { messageOf } from "../errors.ts";
import type { ImportOptions } from "./import-command.ts";
import { withClient } from "./in-process-host.ts";
import { ProgressBar } from "./progress-bar.ts";
import { escapeControls, Output } from "./terminal-output.ts";

type Agent = NonNullable<ImportOptions["from"]>;

const AGENTS: readonly { readonly name: Agent; readonly title: string }[] = [
  { name: "codex", title: "the Codex CLI" },
  { name: "claude", title: "Claude Code" },
];

/** No limit on the number and age of sessions. */
const ALL_SESSIONS = { maxSessions: 2 ** 32 - 1, maxSessionAgeDays: 36_500 };

interface Imported {
  readonly from: Agent;
  readonly items: readonly Item[];
  readonly results: readonly TypeResult[];
}

/** Imports settings and sessions of other agents. Resolves with the exit code. */
export async function runImport(
  { from, dryRun = false, cwd = [], json = false }: ImportOptions,
  overrides: readonly string[] = [],
): Promise<number> {
  const [stdout, stderr] = [new Output(process.stdout), new Output(process.stderr)];
  const all: Imported[] = [];
  try {
    await withClient("import", overrides, async (client) => {
      for (const { name, title } of AGENTS) {
        if (from !== undefined && from !== name) continue;
        const { items } = await client.request("externalAgentConfig/detect", {
          includeHome: true,
          cwds: cwd.map((folder) => resolve(folder)),
          migrationSource: name,
          ...ALL_SESSIONS,
        });
        const results = dryRun || items.length === 0 ? [] : await importItems(client, name, items, stderr);
        all.push({ from: name, items, results });
        if (!json) stdout.write(dryRun ? planText(title, items) : resultText(title, results, stdout));
      }
    });
  } catch (cause) {
    process.stderr.write(`bobbin: ${escapeControls(messageOf(cause))}\n`);
    return 1;
  }
  if (json) stdout.line(JSON.stringify(all, null, 2));
  await stdout.flushed();
  return 0;
}

async function importItems(
  client: BobbinClient,
  migrationSource: Agent,
  migrationItems: Item[],
  stderr: Output,
): Promise<readonly TypeResult[]> {
  const total = migrationItems.reduce((sum, item) => sum + weightOf(item), 0);
  const bar = new ProgressBar(stderr, total);
  const stops: (() => void)[] = [];
  try {
    return await new Promise<readonly TypeResult[]>((resolve, reject) => {
      stops.push(
        client.on("externalAgentConfig/import/progress", ({ itemTypeResults }) => {
          for (const { itemType, successes, failures } of itemTypeResults)
            bar.add(itemType === "SESSIONS" ? successes.length + failures.length : 1);
        }),
        client.on("externalAgentConfig/import/completed", ({ itemTypeResults }) => resolve(itemTypeResults)),
        client.onClosed((why) => reject(new Error(why))),
      );
      client.request("externalAgentConfig/import", { migrationItems, migrationSource }).catch(reject);
    });
  } finally {
    for (const stop of stops) stop();
    bar.clear();
  }
}

function weightOf({ itemType, details }: Item): number {
  return itemType === "SESSIONS" ? (details?.sessions?.length ?? 0) : 1;
}

function planText(title: string, items: readonly Item[]): string {
  if (items.length === 0) return `Nothing to import from ${title}.\n`;
  const lines = items.map(({ itemType, description, details }) => {
    const names = Object.values(details ?? {}).flat().length;
    const text = escapeControls(description).replaceAll("\n", " ");
    return `  ${itemType.padEnd(18)} ${text}${names > 0 ? ` (${names})` : ""}`;
  });
  return `From ${title}:\n${lines.join("\n")}\n`;
}

function resultText(title: string, results: readonly TypeResult[], output: Output): string {
  if (results.length === 0) return `Nothing to import from ${title}.\n`;
  const lines = results.flatMap(({ itemType, successes, failures }) => {
    const failed = failures.length === 0 ? "" : output.yellow(`, ${failures.length} failed`);
    return [
      `  ${itemType.padEnd(18)} ${successes.length} imported${failed}`,
      ...failures.map(({ source, message }) => {
        // The file is added only if the message does not name it.
        const where = source == null || message.includes(source) ? "" : `${source}: `;
        return `    ${escapeControls(`${where}${message}`).replaceAll("\n", " ")}`;
      }),
    ];
  });
  return `From ${title}:\n${lines.join("\n")}\n`;
}
