import { expect, it } from "vitest";
import { times } from "../support/long-form.ts";
import { MCP_LIGHT } from "../support/mcp-stage.ts";

// bench/ is plain JavaScript, so that it runs without a build; what is used of it is stated here.
interface Residue {
  readonly heap: number;
  readonly counts: Readonly<Record<string, number>>;
}
interface SoakModule {
  reloadOurs(options: {
    threads: number;
    loads: number;
    atMostMs: number;
    config: string;
  }): Promise<{ readonly before: Residue; readonly after: Residue }>;
  leftBehind(before: Residue, after: Residue): readonly string[];
}

const module = new URL("../../bench/lib/soak.mjs", import.meta.url).href;
const { reloadOurs, leftBehind } = (await import(/* @vite-ignore */ module)) as SoakModule;

const AT_MOST_MS = times(120_000, 600_000);
/** Caches grow to their limits. A leak of 1 kB per load would be more in the long form. */
const CACHES_BYTES = 1024 * 1024;

it("[MCP-3] has nothing left of thousands of loads and unloads of threads with MCP servers", {
  timeout: 2 * AT_MOST_MS,
}, async () => {
  const server = (name: string, more = "") =>
    `\n[mcp_servers.${name}]\ncommand = "${MCP_LIGHT}"\nargs = ["${name}"]\n${more}`;
  const config = server("one") + server("two") + server("alone", 'isolation = "thread"\n');
  // With the loads before the measurement, the long form has 10,000.
  const loads = times(400, 6_700);
  const { before, after } = await reloadOurs({ threads: 20, loads, config, atMostMs: AT_MOST_MS });
  expect(leftBehind(before, after)).toEqual([]);
  expect(after.heap).toBeLessThan(before.heap + CACHES_BYTES);
  // They were looked for in the right place.
  expect(before.counts["emitters"]).toBeGreaterThan(0);
});
