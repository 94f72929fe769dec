import type { ConfigSnapshot } from "../../config/layered-config.ts";
import type { Connection } from "../connection.ts";

/** Warnings that each client was sent. */
const sent = new WeakMap<Connection, Set<string>>();

/** Warns a client about ignored project configuration, once per content of the file. */
export function warnOfProject(connection: Connection, { layers, ignored }: ConfigSnapshot): void {
  for (const { name, file, text, disabledReason } of layers) {
    // No warning for an untrusted project, because the user has decided about it.
    if (name.type !== "project" || disabledReason === null || /is marked as untrusted/.test(disabledReason))
      continue;
    warnOnce(connection, disabledReason, file!, text);
  }
  for (const { file, keys } of ignored)
    warnOnce(connection, `A project cannot set ${keys.join(", ")}: set it in your own config.toml.`, file);
}

function warnOnce(connection: Connection, summary: string, path: string, text = ""): void {
  const known = sent.get(connection) ?? new Set();
  sent.set(connection, known);
  const what = [summary, path, text].join("\0");
  if (known.has(what)) return;
  known.add(what);
  connection.notify("configWarning", { summary, details: null, path });
}
