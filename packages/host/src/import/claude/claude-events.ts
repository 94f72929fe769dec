import type { SessionEvent } from "../session/session-events.ts";
import { plainId, textAt, timeOf } from "../session/session-line-fields.ts";
import type { JsonObject } from "../text-files.ts";
import {
  callOf,
  INTERRUPTED,
  isCommand,
  isCommandOutput,
  isMessage,
  partsOf,
  resultText,
  userInput,
} from "./claude-messages.ts";
import { ClaudeTitles } from "./claude-titles.ts";
import type { MainBranch } from "./session-main-branch.ts";

/** Converts the lines of a Claude Code session to events. Lines outside of the session's main branch are ignored. */
export async function* claudeEvents(
  lines: AsyncIterable<JsonObject | undefined> | Iterable<JsonObject | undefined>,
  main: MainBranch,
  startedAt: number,
): AsyncGenerator<SessionEvent> {
  let at = startedAt;
  const titles = new ClaudeTitles();
  const seen = new Set<string>();
  /** Events of a slash command. They are dropped if the program's own output for the command follows. */
  let command: readonly SessionEvent[] = [];
  for await (const line of lines) {
    if (line === undefined) continue;
    titles.look(line);
    if (!isMessage(line) || !main.has(line)) continue;
    const id = textAt(line, "uuid");
    // A resumed session may contain lines twice.
    if (id !== undefined && seen.has(id)) continue;
    if (id !== undefined) seen.add(id);
    at = timeOf(line["timestamp"]) ?? at;
    if (!isCommandOutput(line)) yield* command;
    command = [];
    const events = line["type"] === "user" ? userEvents(line, at) : agentEvents(line, at);
    if (isCommand(line)) command = [...events];
    else yield* events;
  }
  yield* command;
  const { name } = titles;
  if (name !== undefined) yield { kind: "name", name };
}

function* userEvents(line: JsonObject, at: number): Generator<SessionEvent> {
  for (const part of partsOf(line)) {
    if (part["type"] !== "tool_result") continue;
    const callId = plainId(textAt(part, "tool_use_id") ?? "");
    yield { kind: "output", at, callId, text: resultText(part), success: part["is_error"] !== true };
  }
  const content = userInput(line);
  const first = content.find((part) => part.type === "text");
  if (first !== undefined && INTERRUPTED.test(first.text)) yield { kind: "end", at, status: "interrupted" };
  else if (line["isCompactSummary"] === true) {
    if (first !== undefined) yield { kind: "compacted", at, summary: first.text };
  } else if (content.length > 0) yield { kind: "user", at, content };
}

function* agentEvents(line: JsonObject, at: number): Generator<SessionEvent> {
  for (const part of partsOf(line)) {
    switch (part["type"]) {
      case "text": {
        const text = textAt(part, "text") ?? "";
        if (text.trim() !== "") yield { kind: "agent", at, text };
        break;
      }
      case "thinking": {
        const text = textAt(part, "thinking") ?? "";
        if (text.trim() !== "") yield { kind: "reasoning", at, summary: [text] };
        break;
      }
      case "tool_use":
        yield { kind: "call", at, call: callOf(part) };
        break;
    }
  }
}
