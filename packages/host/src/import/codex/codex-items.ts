import type { ThreadTokenUsage, TokenUsageBreakdown, UserInput } from "@bobbin/protocol";
import { patchChanges } from "../session/file-changes.ts";
import { image, type SessionCall, type SessionEvent } from "../session/session-events.ts";
import { commandText, plainId, plainName, textAt } from "../session/session-line-fields.ts";
import { isObject, type JsonObject } from "../text-files.ts";

const SHELLS: ReadonlySet<string> = new Set([
  "shell",
  "shell_command",
  "exec_command",
  "local_shell",
  "container.exec",
]);

/**
 * Converts an item of the Responses API to events. Items that are not displayed, or that Bobbin creates itself, give
 * no events.
 */
export function itemEvents(item: JsonObject, at: number): readonly SessionEvent[] {
  const callId = plainId(textAt(item, "call_id") ?? textAt(item, "id") ?? "");
  switch (item["type"]) {
    case "message": {
      if (item["role"] !== "assistant") return [];
      const text = partTexts(item["content"]);
      if (text === "") return [];
      const phase = item["phase"];
      const known = phase === "commentary" || phase === "final_answer" ? phase : undefined;
      return [{ kind: "agent", at, text, phase: known }];
    }
    case "reasoning": {
      const summary = Array.isArray(item["summary"]) ? item["summary"] : [];
      const texts = summary.map((part) => textAt(part, "text") ?? "").filter((text) => text !== "");
      return texts.length === 0 ? [] : [{ kind: "reasoning", at, summary: texts }];
    }
    case "function_call":
      return [{ kind: "call", at, call: functionCall(item, callId) }];
    case "custom_tool_call": {
      const name = plainName(textAt(item, "name") ?? "");
      const input = textAt(item, "input") ?? "";
      const changes = name === "apply_patch" ? (cwd: string) => patchChanges(input, cwd) : undefined;
      const call = { callId, name, namespace: null, arguments: input, custom: true, changes };
      return [{ kind: "call", at, call }];
    }
    case "local_shell_call": {
      const action = isObject(item["action"]) ? item["action"] : {};
      const command = commandText(action["command"]);
      const argumentsJson = JSON.stringify({ command: action["command"] });
      const cwd = textAt(action, "working_directory");
      return [
        {
          kind: "call",
          at,
          call: { callId, name: "local_shell", namespace: null, arguments: argumentsJson, command, cwd },
        },
      ];
    }
    case "web_search_call": {
      const query = textAt(item, "action", "query") ?? textAt(item, "action", "url") ?? "";
      return query === "" ? [] : [{ kind: "search", at, query }];
    }
    case "function_call_output":
    case "custom_tool_call_output":
      return [{ kind: "output", at, callId, ...outputOf(item["output"]) }];
    default:
      return [];
  }
}

function functionCall(item: JsonObject, callId: string): SessionCall {
  const name = textAt(item, "name") ?? "";
  const argumentsJson = textAt(item, "arguments") ?? "{}";
  const namespace = textAt(item, "namespace") ?? null;
  const call = { callId, name: plainName(name), namespace, arguments: argumentsJson };
  if (SHELLS.has(name)) {
    const parsed = parsedObject(argumentsJson);
    const command = commandText(parsed["command"] ?? parsed["cmd"]);
    return {
      ...call,
      command: command ?? argumentsJson,
      cwd: textAt(parsed, "workdir") ?? textAt(parsed, "cwd"),
    };
  }
  if (name === "apply_patch" && namespace === null) {
    const patch = textAt(parsedObject(argumentsJson), "input") ?? "";
    return { ...call, changes: (cwd) => patchChanges(patch, cwd) };
  }
  // The name of the MCP server is part of the tool's name, or is its namespace.
  const whole = namespace === null ? name : `${namespace.replace(/__$/, "")}__${name}`;
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(whole) ?? [];
  return server === undefined ? call : { ...call, mcp: { server, tool: tool! } };
}

function parsedObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** Parses a tool output in any of the formats of past versions. */
function outputOf(
  rawOutput: unknown,
): Omit<Extract<SessionEvent, { kind: "output" }>, "kind" | "at" | "callId"> {
  if (isObject(rawOutput)) {
    const text =
      typeof rawOutput["content"] === "string" ? rawOutput["content"] : partTexts(rawOutput["content"]);
    return { text, success: rawOutput["success"] !== false };
  }
  if (typeof rawOutput !== "string") return { text: partTexts(rawOutput), success: true };
  const { output, metadata } = parsedObject(rawOutput);
  const code = isObject(metadata) ? metadata["exit_code"] : undefined;
  if (typeof output === "string" && typeof code === "number")
    return { text: output, success: code === 0, exitCode: code };
  const exitCodeText = /^(?:Exit code: |Process exited with code )(-?\d+)$/m.exec(
    rawOutput.slice(0, 1000),
  )?.[1];
  if (exitCodeText === undefined) return { text: rawOutput, success: true };
  const [, printed] = /^(?:[^\n]*\n){1,8}?Output:\n([\s\S]*)$/.exec(rawOutput) ?? [];
  return { text: rawOutput, printed, success: exitCodeText === "0", exitCode: Number(exitCodeText) };
}

function partTexts(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? content : [];
  return parts
    .map((part) => textAt(part, "text") ?? "")
    .filter((text) => text !== "")
    .join("\n");
}

/** Returns the user's own texts and images in a message, without context that the program added. */
export function userContent(content: unknown): readonly UserInput[] {
  const parts = Array.isArray(content) ? content : [{ type: "input_text", text: content }];
  return parts.flatMap((part): UserInput[] => {
    const text = textAt(part, "text");
    if (text !== undefined) return isContext(text) ? [] : [{ type: "text", text, text_elements: [] }];
    const url = textAt(part, "image_url");
    if (url !== undefined) return [image(url)];
    const path = textAt(part, "path");
    return path === undefined || textAt(part, "type") !== "local_image" ? [] : [localImage(path)];
  });
}

/** A local image becomes a text with its path, because the file may have changed since the session. */
export function localImage(path: string): UserInput {
  return { type: "text", text: `[image: ${path}]`, text_elements: [] };
}

/**
 * Whether a text in the role of the user is context that the program added: a text inside one pair of tags, or the
 * project's instructions.
 */
function isContext(text: string): boolean {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed.startsWith("# AGENTS.md instructions for ")) return true;
  const tag = /^<([a-zA-Z_]+)(?: [^>]*)?>/.exec(trimmed)?.[1];
  return tag !== undefined && trimmed.endsWith(`</${tag}>`);
}

export function usageOf(info: unknown): ThreadTokenUsage | undefined {
  if (!isObject(info)) return undefined;
  const [last, total] = [tokens(info["last_token_usage"]), tokens(info["total_token_usage"])];
  if (last === undefined || total === undefined) return undefined;
  const window = info["model_context_window"];
  return { last, total, modelContextWindow: Number.isSafeInteger(window) ? (window as number) : null };
}

function tokens(counts: unknown): TokenUsageBreakdown | undefined {
  if (!isObject(counts)) return undefined;
  const count = (key: string): number => {
    const value = counts[key];
    return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : 0;
  };
  return {
    cacheWriteInputTokens: count("cache_write_input_tokens"),
    cachedInputTokens: count("cached_input_tokens"),
    inputTokens: count("input_tokens"),
    outputTokens: count("output_tokens"),
    reasoningOutputTokens: count("reasoning_output_tokens"),
    totalTokens: count("total_tokens"),
  };
}
