import type { Config } from "../config/config.ts";
import type { Door } from "../server/listen/door.ts";

/** What a person sees who starts the server by hand. */
export function welcome(doors: readonly Door[], home: string, config: Config): string {
  const url = doors.find((door) => door.url.startsWith("ws://"))?.url;
  const model =
    config.modelProvider === config.model ? config.model : `${config.model} (${config.modelProvider})`;
  const lines = [
    "",
    "  Bobbin is listening.",
    "",
    ...doors.map((door) => `    address  ${door.url}`),
    `    home     ${home}`,
    `    model    ${model}${config.modelProvider === "offline" ? ": built in, needs no key and no network" : ""}`,
    "",
  ];
  if (url !== undefined) {
    lines.push(
      "  Three things to try:",
      "",
      `    1. Open ${url.replace(/^ws:/, "http:")} in a browser.`,
      '    2. In another terminal:  bin/bobbin exec "Hello, who are you?"',
      `    3. Connect a client:     codex --remote ${url}`,
      "",
    );
  }
  lines.push("  Ctrl-C stops it.", "", "");
  return lines.join("\n");
}
