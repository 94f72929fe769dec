import { ConfigError } from "./bad-config-error.ts";
import { flag, subtable, type Table, text } from "./table-reader.ts";

/** `[feedback]`: whether problem reports are accepted, and where they are sent. */
export interface FeedbackSettings {
  readonly enabled: boolean;
  /** URL to which reports are sent by POST; null to store them in the home only. */
  readonly endpoint: string | null;
}

export function readFeedback(table: Table): FeedbackSettings {
  const section = subtable(table, "feedback") ?? {};
  const endpoint = text(section, "endpoint", "feedback.") ?? null;
  if (endpoint !== null && !/^https?:$/.test(protocolOf(endpoint)))
    throw new ConfigError(`feedback.endpoint: expected an address with http or https, found "${endpoint}"`);
  return { enabled: flag(section, "enabled", "feedback.") ?? true, endpoint };
}

function protocolOf(address: string): string {
  return URL.canParse(address) ? new URL(address).protocol : "";
}
