import type { FileUpdateChange, UserInput } from "@bobbin/protocol";
import { type Replacement, replacedIn } from "../session/file-changes.ts";
import { image, type SessionCall } from "../session/session-events.ts";
import { plainId, plainName, textAt } from "../session/session-line-fields.ts";
import { isObject, type JsonObject } from "../text-files.ts";

/** Whether a line is a message of the main conversation, and not of a sub-agent or of the program. */
export function isMessage(line: JsonObject): boolean {
  const { type, isMeta, isSidechain, message } = line;
  return (
    (type === "user" || type === "assistant") && isMeta !== true && isSidechain !== true && isObject(message)
  );
}

/** Returns the parts of a message; a message that is a string has one part. */
export function partsOf(line: JsonObject): readonly JsonObject[] {
  const content = isObject(line["message"]) ? line["message"]["content"] : undefined;
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isObject) : [];
}

/**
 * Returns the user's own input in a message. Empty if the message contains only tool results or texts that the
 * program added.
 */
export function userInput(line: JsonObject): readonly UserInput[] {
  return partsOf(line).flatMap((part): UserInput[] => {
    if (part["type"] === "text") {
      const text = ownWords(textAt(part, "text") ?? "");
      return text === "" ? [] : [{ type: "text", text, text_elements: [] }];
    }
    if (part["type"] !== "image") return [];
    const source = isObject(part["source"]) ? part["source"] : {};
    const [data, media] = [textAt(source, "data"), textAt(source, "media_type")];
    const url = textAt(source, "url") ?? (data && media ? `data:${media};base64,${data}` : undefined);
    return url === undefined ? [] : [image(url)];
  });
}

/** Matches a text that the program added at the start of a user message, such as output of a command. */
const ASIDE =
  /^\s*<(local-command-\w+|bash-std(?:out|err)|system-reminder|task-notification|ide_\w+)>[\s\S]*?<\/\1>/;

/** Removes the texts that the program added. A slash command is returned as the user typed it. */
function ownWords(text: string): string {
  let words = text;
  for (let aside = ASIDE.exec(words); aside !== null; aside = ASIDE.exec(words))
    words = words.slice(aside[0].length);
  const command = COMMAND.exec(words)?.[1];
  if (command !== undefined) {
    const commandArguments = /<command-args>\s*(.*?)\s*<\/command-args>/s.exec(words)?.[1] ?? "";
    return `${command.startsWith("/") ? command : `/${command}`} ${commandArguments}`.trim();
  }
  const shell = /^\s*<bash-input>(.*?)<\/bash-input>/s.exec(words)?.[1];
  return shell === undefined ? words.trim() : `!${shell}`;
}

/** Matches a slash command. The tags must be at the start, because a user may quote them within a text. */
const COMMAND =
  /^\s*(?:<command-message>.*?<\/command-message>\s*)?<command-name>\s*(.*?)\s*<\/command-name>/s;

/** Whether a user message is a slash command: a built-in one like `/clear`, or a custom one. */
export function isCommand(line: JsonObject): boolean {
  return partsOf(line).some((part) => part["type"] === "text" && COMMAND.test(textAt(part, "text") ?? ""));
}

/**
 * Whether a message is the program's own output for a slash command. The model got neither the command nor the
 * output.
 */
export function isCommandOutput(line: JsonObject): boolean {
  return partsOf(line).some((part) => /^\s*<local-command-std(out|err)>/.test(textAt(part, "text") ?? ""));
}

export const INTERRUPTED = /^\[Request interrupted by user/;

/** Reads a tool call. */
export function callOf(part: JsonObject): SessionCall {
  const name = textAt(part, "name") ?? "tool";
  const input = isObject(part["input"]) ? part["input"] : {};
  const call = {
    callId: plainId(textAt(part, "id") ?? ""),
    name: plainName(name),
    namespace: null,
    arguments: JSON.stringify(input),
  };
  if (name === "Bash") return { ...call, command: textAt(input, "command") ?? "" };
  const change = changeOf(name, input);
  if (change !== undefined) return { ...call, changes: () => [change] };
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
  return server === undefined ? call : { ...call, mcp: { server, tool: tool! } };
}

/** Returns the change that a file-writing tool made; undefined for other tools. */
function changeOf(name: string, input: JsonObject): FileUpdateChange | undefined {
  const path = textAt(input, "file_path");
  if (path === undefined) return undefined;
  switch (name) {
    case "Write":
      return { path, kind: { type: "add" }, diff: textAt(input, "content") ?? "" };
    case "Edit":
      return replacedIn(path, [replacementOf(input)]);
    case "MultiEdit": {
      const edits = Array.isArray(input["edits"]) ? input["edits"].filter(isObject) : [];
      return replacedIn(path, edits.map(replacementOf));
    }
    default:
      return undefined;
  }
}

function replacementOf(edit: JsonObject): Replacement {
  return { before: textAt(edit, "old_string") ?? "", after: textAt(edit, "new_string") ?? "" };
}

/** Returns a tool's result as text. */
export function resultText(part: JsonObject): string {
  const { content } = part;
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? content : [];
  return parts
    .map((one) => textAt(one, "text") ?? (textAt(one, "type") === "image" ? "[image]" : ""))
    .filter((text) => text !== "")
    .join("\n");
}
