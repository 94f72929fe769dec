import { basename, join } from "node:path";
import type { Platform } from "../../platform/platform.ts";
import { ImportProblem } from "../pending-import.ts";
import { filesBelow, pathWithin } from "../session/find-files.ts";
import type { Session } from "../session/session-events.ts";
import { type SessionReader, titleOf } from "../session/session-files.ts";
import { objectOf, textAt, timeOf } from "../session/session-line-fields.ts";
import { lastLines, sessionLines } from "../session/session-lines.ts";
import { stableId } from "../session/stable-id.ts";
import type { JsonObject } from "../text-files.ts";
import { claudeEvents } from "./claude-events.ts";
import { INTERRUPTED, isCommand, isCommandOutput, isMessage, userInput } from "./claude-messages.ts";
import { ClaudeTitles } from "./claude-titles.ts";
import { mainBranch } from "./session-main-branch.ts";

/** Limit on the lines that are read for the head of a session. */
const HEAD_LINES = 400;

/** Size up to which a file is kept in memory during its import. */
const KEPT_BYTES = 1024 * 1024;

type Lines = AsyncIterable<JsonObject | undefined> | Iterable<JsonObject | undefined>;

/** Facts from the first lines of a session. */
interface ClaudeHead {
  readonly startedAt: number | undefined;
  readonly cwd: string | undefined;
  readonly version: string | undefined;
  readonly branch: string | undefined;
  readonly title: string | null;
  readonly isEmpty: boolean;
  readonly isReadable: boolean;
}

/**
 * The sessions of Claude Code: `projects/<folder>/<session>.jsonl`. Sessions of its sub-agents are in other files,
 * which are not imported.
 */
export function claudeSessions(
  platform: Pick<Platform, "files" | "machineFileAccess">,
  home: string,
): SessionReader {
  const { files } = platform;
  const projects = join(home, "projects");

  const objects = async function* (path: string): AsyncGenerator<JsonObject | undefined> {
    for await (const lines of sessionLines(files, path)) for (const line of lines) yield objectOf(line);
  };

  /** Returns the lines of a file for several passes. A small file is read only once. */
  const lines = async (path: string): Promise<() => Lines> => {
    const cached: (JsonObject | undefined)[] = [];
    let left = KEPT_BYTES;
    for await (const some of sessionLines(files, path)) {
      for (const line of some) {
        left -= line.text?.length ?? 0;
        if (left < 0) return () => objects(path);
        cached.push(objectOf(line));
      }
    }
    return () => cached;
  };

  const read = async (
    path: string,
    from: Lines,
  ): Promise<(ClaudeHead & { readonly threadId: string }) | undefined> => {
    const head = await readHead(from);
    if (head.isEmpty && head.isReadable) return undefined;
    if (head.startedAt === undefined || head.cwd === undefined)
      throw new ImportProblem(`${path} is no session: it does not say when and where it was`);
    return { ...head, threadId: stableId(head.startedAt, "claude", basename(path, ".jsonl")) };
  };

  return {
    list: () =>
      filesBelow(platform, projects, 1, (name) => name.endsWith(".jsonl") && !name.startsWith("agent-")),

    async outline(path) {
      const head = await read(path, objects(path));
      if (head === undefined) return undefined;
      const titles = new ClaudeTitles();
      // Claude Code writes the titles again at the end of the file when it ends.
      for (const line of await lastLines(files, path)) {
        const object = objectOf(line);
        if (object !== undefined) titles.look(object);
      }
      return { threadId: head.threadId, cwd: head.cwd!, title: titles.name ?? head.title };
    },

    async open(path): Promise<Session | undefined> {
      const all = await lines(path);
      const head = await read(path, all());
      if (head === undefined) return undefined;
      const { threadId, startedAt, cwd, version, branch } = head;
      async function* events() {
        yield* claudeEvents(all(), await mainBranch(all()), startedAt!);
      }
      return {
        head: {
          threadId,
          startedAt: startedAt!,
          cwd: cwd!,
          source: "cli",
          originator: "claude-code",
          cliVersion: version ?? "",
          forkedFromId: null,
          gitInfo: branch === undefined ? null : { branch, originUrl: null, sha: null },
          model: null,
          modelProvider: null,
          archived: false,
        },
        events: events(),
      };
    },

    locate: (path) =>
      path.endsWith(".jsonl") ? pathWithin(platform, path, [projects]) : Promise.resolve(undefined),
  };
}

async function readHead(lines: Lines): Promise<ClaudeHead> {
  let [startedAt, cwd, version, branch]: [number?, string?, string?, string?] = [];
  let title: string | null = null;
  let command: string | null = null;
  let [count, readable, messages] = [0, 0, 0];
  for await (const line of lines) {
    if (count++ >= HEAD_LINES) break;
    if (line === undefined) continue;
    readable++;
    cwd ??= textAt(line, "cwd");
    version ??= textAt(line, "version");
    branch ??= textAt(line, "gitBranch") || undefined;
    if (!isMessage(line)) continue;
    startedAt ??= timeOf(line["timestamp"]);
    if (command !== null && !isCommandOutput(line)) {
      messages++;
      title ??= command;
    }
    command = null;
    if (line["type"] === "assistant") messages++;
    else {
      const input = userInput(line);
      const text = input.find((part) => part.type === "text");
      if (input.length === 0 || (text !== undefined && INTERRUPTED.test(text.text))) continue;
      if (isCommand(line)) command = titleOf(text!.text);
      else {
        messages++;
        title ??= text === undefined ? null : titleOf(text.text);
      }
    }
    if (startedAt !== undefined && cwd !== undefined && title !== null) break;
  }
  if (command !== null) messages++;
  title ??= command;
  const isEmpty = messages === 0 && count <= HEAD_LINES;
  // A file without any readable line is an error, unless the file is empty.
  return { startedAt, cwd, version, branch, title, isEmpty, isReadable: readable > 0 || count === 0 };
}
