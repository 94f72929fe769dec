import type { GitInfo, SessionSource } from "@bobbin/protocol";
import { ImportProblem } from "../pending-import.ts";
import type { SessionHead } from "../session/session-events.ts";
import { titleOf } from "../session/session-files.ts";
import { objectOf, textAt, timeOf } from "../session/session-line-fields.ts";
import { sessionLines } from "../session/session-lines.ts";
import { isThreadId, stableId, timeOfId } from "../session/stable-id.ts";
import { isObject, type JsonObject, readJson, type TextFiles } from "../text-files.ts";
import { userContent } from "./codex-items.ts";

/** Facts from the first lines of a rollout. */
export interface CodexHead extends Omit<SessionHead, "archived"> {
  readonly sessionId: string;
  readonly title: string | null;
  /** Offset of the end of the message that the title is taken from. */
  readonly titleEnd: number;
  /** Whether the session belongs to a sub-agent, and so is part of another session. */
  readonly isHelper: boolean;
  /** Whether the whole file was read and contains no message. */
  readonly isEmpty: boolean;
  /** Rollout that this one continues, up to the offset `end` of its file. */
  readonly base: { readonly rollout: string; readonly end: number } | undefined;
}

/** Limit on the size of a session that is one JSON object, which must be read as a whole. */
const MAX_WHOLE = 64 * 1024 * 1024;

/** Limit on the lines that are read for the head of a session. */
const HEAD_LINES = 400;

/** Reads the head of a rollout. Throws if the file is not a session. */
export async function readCodexHead(
  files: TextFiles,
  path: string,
  id: string,
  stamp: string,
): Promise<CodexHead> {
  let meta: JsonObject | undefined;
  let context: JsonObject | undefined;
  let folder: string | undefined;
  let title: string | null = null;
  let titleEnd = 0;
  let count = 0;
  let hasMessage = false;
  const look = (line: JsonObject): void => {
    const payload = isObject(line["payload"]) ? line["payload"] : line;
    const type = "payload" in line ? line["type"] : bareType(line);
    if (type === "session_meta") meta ??= payload;
    else if (type === "turn_context") context ??= payload;
    else {
      folder ??= folderOf(payload);
      const userMessage = userText(type, payload);
      if (userMessage !== undefined || payload["role"] === "assistant") hasMessage = true;
      title ??= userMessage === undefined ? null : titleOf(userMessage);
    }
  };
  if (path.endsWith(".json")) {
    const { session, items } = await readWhole(files, path);
    meta = session;
    for (const item of items) look(item);
  } else {
    reading: for await (const lines of sessionLines(files, path)) {
      for (const one of lines) {
        const line = objectOf(one);
        if (line !== undefined) look(line);
        if (title !== null) titleEnd ||= one.end;
        if (++count >= HEAD_LINES || (meta && context && title)) break reading;
      }
    }
  }
  if (meta === undefined) throw new ImportProblem(`${path} is no session: it does not say what it is`);
  // A file that continues another one has a later timestamp than its thread. The thread's ID contains the earlier
  // time.
  const namedTime = timeOf(meta["timestamp"]) ?? timeOfStamp(stamp);
  const startedAt = isThreadId(id) ? Math.min(namedTime, timeOfId(id)) : namedTime;
  const sessionId = textAt(meta, "id") ?? id;
  const base = isObject(meta["history_base"]) ? meta["history_base"] : undefined;
  const provider = textAt(meta, "model_provider") ?? null;
  return {
    threadId: isThreadId(id) ? id : stableId(timeOfStamp(stamp), "codex", id),
    sessionId,
    startedAt,
    cwd: textAt(meta, "cwd") ?? textAt(context, "cwd") ?? folder ?? "",
    source: sourceOf(meta["source"]),
    originator: textAt(meta, "originator") ?? null,
    cliVersion: textAt(meta, "cli_version") ?? "",
    forkedFromId: textAt(meta, "forked_from_id") ?? null,
    gitInfo: gitOf(meta["git"]),
    model: textAt(context, "model") ?? null,
    modelProvider: provider,
    title,
    titleEnd,
    isHelper: isObject(meta["source"]) && ("subagent" in meta["source"] || "internal" in meta["source"]),
    isEmpty: !hasMessage && count < HEAD_LINES && base === undefined,
    base:
      base === undefined || typeof base["end_byte_offset"] !== "number"
        ? undefined
        : { rollout: textAt(base, "thread_id") ?? "", end: base["end_byte_offset"] },
  };
}

/** Type of a line in files of the first versions, which have no envelope. The session's line comes first. */
export function bareType(line: JsonObject): unknown {
  if ("record_type" in line) return "state";
  return "id" in line && "timestamp" in line && !("type" in line) ? "session_meta" : "response_item";
}

/** Reads a file of the very first versions, which is one JSON object. */
export async function readWhole(
  files: TextFiles,
  path: string,
): Promise<{ session: JsonObject | undefined; items: readonly JsonObject[] }> {
  const { session, items } = (await readJson(files, path, MAX_WHOLE)) ?? {};
  return {
    session: isObject(session) ? session : undefined,
    items: Array.isArray(items) ? items.filter(isObject) : [],
  };
}

/**
 * Finds the working folder of a session whose head does not name it, in the context for the model or in the first
 * command.
 */
function folderOf(item: JsonObject): string | undefined {
  const { content, action } = item;
  const parts = item["role"] === "user" && Array.isArray(content) ? content : [];
  for (const part of parts) {
    const text = textAt(part, "text") ?? "";
    const [, tagged, named] =
      /^\s*<environment_context>[\s\S]*?(?:<cwd>(.*?)<\/cwd>|Current working directory: (.*))/.exec(text) ??
      [];
    const folder = (tagged ?? named)?.trim();
    if (folder?.startsWith("/")) return folder;
  }
  const ran = textAt(action, "working_directory") ?? workdirOf(item["arguments"]);
  return ran?.startsWith("/") ? ran : undefined;
}

function workdirOf(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  try {
    return textAt(JSON.parse(value), "workdir");
  } catch {
    return undefined;
  }
}

function userText(type: unknown, payload: JsonObject): string | undefined {
  if (type === "event_msg" && payload["type"] === "user_message") return textAt(payload, "message");
  const item = isObject(payload["item"]) ? payload["item"] : payload;
  const isUser = item["role"] === "user" || item["type"] === "UserMessage";
  if (!isUser) return undefined;
  const [first] = userContent(item["content"]).filter((part) => part.type === "text");
  return first?.text;
}

/** Parses `2025-05-07T17-24-21`. The time zone is unknown; UTC is assumed. */
function timeOfStamp(stamp: string): number {
  const [day, time = "00-00-00"] = stamp.split("T");
  return timeOf(`${day}T${time.replaceAll("-", ":")}Z`) ?? 0;
}

function sourceOf(value: unknown): SessionSource {
  if (value === "cli" || value === "vscode" || value === "exec") return value;
  if (value === undefined) return "cli";
  return value === "mcp" || value === "app_server" || value === "appServer" ? "appServer" : "unknown";
}

function gitOf(value: unknown): GitInfo | null {
  if (!isObject(value)) return null;
  return {
    branch: textAt(value, "branch") ?? null,
    originUrl: textAt(value, "repository_url") ?? null,
    sha: textAt(value, "commit_hash") ?? null,
  };
}
