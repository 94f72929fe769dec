import { ConfigError } from "./bad-config-error.ts";
import { list, subtable, type Table, text } from "./table-reader.ts";

/** Events that a program or a URL is notified of: the end of a turn, and a question that waits for a person. */
export type NotifyEvent = "turn" | "approval";

export interface NotifySettings {
  /** Program and arguments. The event is added as the last argument, as JSON. Null for none. */
  readonly command: readonly string[] | null;
  /** URL to which the event is sent by POST; null for none. */
  readonly url: string | null;
  readonly events: readonly NotifyEvent[];
  /** Whether `notify` is a list, as in the Codex CLI. Programs for that form expect only completed turns. */
  readonly isPlain: boolean;
}

const EVENTS: readonly NotifyEvent[] = ["turn", "approval"];

/** Reads `notify = ["program", …]`, as in the Codex CLI, or `[notify]` with `command`, `url` and `events`. */
export function readNotify(table: Table): NotifySettings | null {
  const { notify } = table;
  if (notify === undefined) return null;
  if (Array.isArray(notify)) {
    const command = commandOf(table, "notify", "");
    return command === null ? null : { command, url: null, events: ["turn"], isPlain: true };
  }
  const section = subtable(table, "notify") ?? {};
  const command = commandOf(section, "command", "notify.");
  const url = text(section, "url", "notify.") ?? null;
  if (url !== null && !/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ""))
    throw new ConfigError(`notify.url: expected an address with http or https, found "${url}"`);
  const events = list(section, "events", "notify.") ?? EVENTS;
  const wrong = events.find((event) => !EVENTS.some((known) => known === event));
  if (wrong !== undefined)
    throw new ConfigError(`notify.events: "${wrong}" is not one of ${EVENTS.join(", ")}`);
  return { command, url, events: EVENTS.filter((event) => events.includes(event)), isPlain: false };
}

function commandOf(table: Table, key: string, at: string): readonly string[] | null {
  const command = list(table, key, at) ?? [];
  if (command.some((word) => word.includes("\0")) || command[0]?.trim() === "")
    throw new ConfigError(`${at}${key}: expected a program and its arguments`);
  return command.length === 0 ? null : command;
}
