import type { KeyWarning } from "../../config/keys/key-warnings.ts";
import type { ConfigSnapshot } from "../../config/layered-config.ts";
import type { Table } from "../../config/table-reader.ts";
import { fault } from "../../errors.ts";
import type { Connection } from "../connection.ts";
import type { HandlerContext } from "../handler-context.ts";
import { nested } from "../params/request-config.ts";

/**
 * Warns a client about unknown keys in the configuration. A misspelled key has no effect, which users would not
 * notice otherwise.
 */
export async function warnOfKeys({ keyWarnings }: HandlerContext, connection: Connection): Promise<void> {
  for (const warning of await keyWarnings.read()) notify(connection, warning);
}

/** The file contents about which each client was warned. */
const seen = new WeakMap<Connection, Set<string>>();

/** Warns of unknown keys in a project's configuration files, once per content. */
export async function warnOfProjectKeys(connection: Connection, { layers }: ConfigSnapshot): Promise<void> {
  const known = seen.get(connection) ?? new Set();
  seen.set(connection, known);
  for (const { name, file, text, disabledReason } of layers) {
    if (name.type !== "project" || disabledReason !== null || file === null || text === undefined) continue;
    const content = JSON.stringify([file, text]);
    if (known.has(content)) continue;
    known.add(content);
    const { fileKeyWarnings } = await import("../../config/keys/key-warnings.ts");
    for (const warning of fileKeyWarnings({ file, text })) notify(connection, warning);
  }
}

/** The warnings about the `config` of requests that each client got. */
const sentOfRequests = new WeakMap<Connection, Set<string>>();

/** Limit on the warnings that are remembered per client. Further ones are not sent. */
const MAX_SENT = 500;

/**
 * Warns a client, once, about keys in the `config` of its request that are unknown or have no effect there. With
 * `--strict-config`, a request with an unknown key is refused instead.
 */
export async function warnOfRequestKeys(
  { strictConfig }: HandlerContext,
  connection: Connection,
  method: string,
  config: Table | null | undefined,
): Promise<void> {
  if (config == null) return;
  const { requestKeyWarnings } = await import("../../config/keys/key-warnings.ts");
  const { unknown, unused } = requestKeyWarnings(method, nested(config));
  if (unknown.length > 0 && strictConfig) throw fault("unknownConfigKey", unknown.join("\n"));
  const sent = sentOfRequests.get(connection) ?? new Set();
  sentOfRequests.set(connection, sent);
  for (const summary of [...unknown, ...unused]) {
    if (sent.has(summary) || sent.size >= MAX_SENT) continue;
    sent.add(summary);
    connection.notify("configWarning", { summary, details: null });
  }
}

function notify(connection: Connection, { message: summary, place }: KeyWarning): void {
  if ("option" in place) return connection.notify("configWarning", { summary, details: null });
  const { file: path, line, column, endColumn } = place;
  const range = { start: { line, column }, end: { line, column: endColumn - 1 } };
  connection.notify("configWarning", { summary, details: null, path, range });
}
