import type { McpServerSettings } from "./mcp-server-settings.ts";

/**
 * npm packages of servers that keep state between calls, such as a browser, in which two threads would disturb each
 * other.
 */
const STATEFUL = new Set([
  "@playwright/mcp",
  "@executeautomation/playwright-mcp-server",
  "@modelcontextprotocol/server-puppeteer",
  "puppeteer-mcp-server",
  "chrome-devtools-mcp",
  "@browsermcp/mcp",
  "@browserbasehq/mcp",
  "@browserbasehq/mcp-server-browserbase",
  "browser-use",
]);

/** Whether each thread gets its own server, according to the configuration alone. */
export function keepsState({ isolation, transport }: McpServerSettings): boolean {
  if (isolation !== null) return isolation === "thread";
  if (transport.kind !== "stdio") return false;
  return [transport.command, ...transport.args].some((word) => STATEFUL.has(packageIn(word)));
}

/** `@playwright/mcp@latest` and `/opt/node_modules/@playwright/mcp/cli.js` name the package `@playwright/mcp`. */
function packageIn(word: string): string {
  const inside = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(word)?.[1];
  return inside ?? word.replace(/(.)@[^/]*$/, "$1");
}
