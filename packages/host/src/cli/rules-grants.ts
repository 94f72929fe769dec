import type { ThreadGrant } from "@bobbin/protocol";
import { messageOf } from "../errors.ts";
import { withClient } from "./in-process-host.ts";
import { escapeControls, Output } from "./terminal-output.ts";

export interface GrantOptions {
  /** The id of a grant to revoke. */
  readonly revoke?: string;
  readonly json?: boolean;
  readonly config?: readonly string[];
}

/** Shows the grants of a thread's session. With `revoke`, revokes one first. Resolves with the exit code. */
export async function threadGrants(threadId: string, options: GrantOptions): Promise<number> {
  const stdout = new Output(process.stdout);
  try {
    await withClient("rules", options.config ?? [], async (client) => {
      if (options.revoke !== undefined)
        await client.request("thread/grants/revoke", { threadId, grantId: options.revoke });
      const { data } = await client.request("thread/grants/list", { threadId });
      if (options.json) stdout.line(JSON.stringify(data, null, 2));
      else stdout.write(forPeople(threadId, data, stdout));
    });
  } catch (cause) {
    process.stderr.write(`bobbin: ${escapeControls(messageOf(cause))}\n`);
    return 1;
  }
  await stdout.flushed();
  return 0;
}

function forPeople(threadId: string, grants: readonly ThreadGrant[], stdout: Output): string {
  if (grants.length === 0)
    return `\n  Nothing is allowed for the session of ${escapeControls(threadId)}.\n\n`;
  const lines = grants.map(({ id, description, scope, grantedAtMs }) => {
    const when = grantedAtMs === null ? "" : `, since ${new Date(grantedAtMs).toISOString()}`;
    return `  ${id}  ${escapeControls(description)}  ${stdout.dim(`for this ${scope}${when}`)}`;
  });
  return `\n${lines.join("\n")}\n\n`;
}
