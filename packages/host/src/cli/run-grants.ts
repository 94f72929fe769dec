import { type BobbinClient, overLink } from "@bobbin/client";
import type { ThreadGrant } from "@bobbin/protocol";
import { memoryPair } from "@bobbin/rpc";
import { compose } from "../compose.ts";
import { homeDirectory } from "../config/home.ts";
import { loadConfig } from "../config/load.ts";
import { messageOf } from "../errors.ts";
import { logFor } from "../observe/log.ts";
import { nodePlatform } from "../platform/node.ts";
import { BOBBIN_VERSION } from "../version.ts";
import { harmless, Output } from "./terminal.ts";

export interface GrantOptions {
  /** The id of a grant to take back. */
  readonly revoke?: string;
  readonly json?: boolean;
  readonly config?: readonly string[];
}

/** Shows what was allowed for the session of a thread, or takes one of these grants back. Resolves with the exit code. */
export async function threadGrants(threadId: string, options: GrantOptions): Promise<number> {
  const stdout = new Output(process.stdout);
  try {
    await withClient(options.config ?? [], async (client) => {
      if (options.revoke !== undefined)
        await client.request("thread/grants/revoke", { threadId, grantId: options.revoke });
      const { data } = await client.request("thread/grants/list", { threadId });
      if (options.json) stdout.line(JSON.stringify(data, null, 2));
      else stdout.write(forPeople(threadId, data, stdout));
    });
  } catch (cause) {
    process.stderr.write(`bobbin: ${harmless(messageOf(cause))}\n`);
    return 1;
  }
  await stdout.flushed();
  return 0;
}

/** A client of a host that lives as long as that: the thread is read and changed as clients do. */
async function withClient(
  overrides: readonly string[],
  use: (client: BobbinClient) => Promise<void>,
): Promise<void> {
  const home = homeDirectory();
  const platform = nodePlatform();
  const config = await loadConfig(platform.files, home, overrides);
  const log = logFor(process.env, "warn", (text) => void process.stderr.write(text));
  // The host's own timers keep no process alive.
  const alive = setInterval(() => {}, 2 ** 30);
  const { host } = compose({ home, cwd: process.cwd(), config, platform, log });
  const [ours, theirs] = memoryPair();
  theirs.attach(host.accept(theirs, { transport: "stdio", principal: { kind: "local" } }));
  const client = overLink(ours);
  try {
    const info = { name: "bobbin_rules", title: "Bobbin rules", version: BOBBIN_VERSION };
    await client.initialize(info, { experimentalApi: true });
    await use(client);
  } finally {
    await client.close();
    await host.close();
    clearInterval(alive);
  }
}

function forPeople(threadId: string, grants: readonly ThreadGrant[], stdout: Output): string {
  if (grants.length === 0) return `\n  Nothing is allowed for the session of ${harmless(threadId)}.\n\n`;
  const lines = grants.map(({ id, description, scope, grantedAtMs }) => {
    const when = grantedAtMs === null ? "" : `, since ${new Date(grantedAtMs).toISOString()}`;
    return `  ${id}  ${harmless(description)}  ${stdout.dim(`for this ${scope}${when}`)}`;
  });
  return `\n${lines.join("\n")}\n\n`;
}
