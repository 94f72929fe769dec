import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freshFolder } from "./folder.ts";

const modules = join(import.meta.dirname, "../../node_modules/@modelcontextprotocol");

/** The tests' own MCP server. */
export const MCP_PROGRAM = join(import.meta.dirname, "mcp-program.mjs");
/** A server that uses only a megabyte of memory, for tests with many servers. */
export const MCP_LIGHT = join(import.meta.dirname, "mcp-light.sh");
export const EVERYTHING = join(modules, "server-everything/dist/index.js");
export const FILESYSTEM = join(modules, "server-filesystem/dist/index.js");

/** The table `[mcp_servers.NAME]` for a server that is a script. `more`: further lines of the table. */
export function mcpServer(
  name: string,
  script: string,
  args: readonly string[] = [],
  more: readonly string[] = [],
): string {
  const command = `command = ${JSON.stringify(process.execPath)}`;
  return [`[mcp_servers.${name}]`, command, `args = ${JSON.stringify([script, ...args])}`, ...more].join(
    "\n",
  );
}

/** Creates a home whose config.toml contains these tables. */
export async function homeWith(...tables: readonly string[]): Promise<string> {
  const home = await freshFolder();
  await writeFile(join(home, "config.toml"), `${tables.join("\n")}\n`);
  return home;
}
