import { basename, join } from "node:path";
import type { Platform } from "../../platform/platform.ts";
import { ImportProblem } from "../pending-import.ts";
import { filesBelow, pathWithin } from "../session/find-files.ts";
import type { Session } from "../session/session-events.ts";
import type { SessionFile, SessionOutline, SessionReader } from "../session/session-files.ts";
import { objectOf, textAt } from "../session/session-line-fields.ts";
import { sessionLines } from "../session/session-lines.ts";
import type { JsonObject } from "../text-files.ts";
import { codexEvents } from "./codex-events.ts";
import { type CodexHead, readCodexHead, readWhole } from "./codex-session-head.ts";

/**
 * Names of session files: `rollout-2026-01-02T03-04-05-<thread>.jsonl`; with `.zst` if compressed; with
 * `<thread>_<rollout>` after the thread was reverted; `rollout-2025-04-16-<session>.json` in the first versions.
 */
const NAME =
  /^rollout-(\d{4}-\d\d-\d\d(?:T\d\d-\d\d-\d\d)?)-([0-9a-f-]{36})(?:_([0-9a-f-]{36}))?\.(json|jsonl|jsonl\.zst)$/;

/** Limit on the number of files that one history consists of. */
const MAX_BASES = 64;

interface Named {
  readonly thread: string;
  readonly rollout: string;
  readonly stamp: string;
}

function nameOf(path: string): Named | undefined {
  const [, stamp, thread, rollout] = NAME.exec(basename(path)) ?? [];
  return stamp === undefined ? undefined : { stamp, thread: thread!, rollout: rollout ?? thread! };
}

/** The sessions of the Codex CLI, in all layouts of its versions. */
export function codexSessions(
  platform: Pick<Platform, "files" | "machineFileAccess">,
  home: string,
): SessionReader {
  const { files } = platform;
  const folders = [join(home, "sessions"), join(home, "archived_sessions")];
  let names: Promise<ReadonlyMap<string, string>> | undefined;
  let rollouts: Promise<ReadonlyMap<string, string>> | undefined;

  const all = async (): Promise<readonly SessionFile[]> => {
    const found = await Promise.all(
      folders.map((folder) => filesBelow(platform, folder, 4, (name) => NAME.test(name))),
    );
    return found.flat();
  };

  /** Returns the path of each rollout, for histories that continue another file. */
  const rolloutPaths = async (): Promise<ReadonlyMap<string, string>> =>
    new Map((await all()).map(({ path }) => [nameOf(path)!.rollout, path]));

  const read = async (path: string): Promise<CodexHead | undefined> => {
    const named = nameOf(path);
    return named && readCodexHead(files, path, named.thread, named.stamp);
  };

  /** Returns the file of a rollout that another rollout continues. */
  const fileOf = async (rollout: string): Promise<{ path: string; head: CodexHead } | undefined> => {
    rollouts ??= rolloutPaths();
    const path = (await rollouts).get(rollout);
    const head = path === undefined ? undefined : await read(path);
    return path === undefined || head === undefined ? undefined : { path, head };
  };

  /** Yields the lines of a session up to `end`, after those of the file that it continues. */
  async function* lines(
    path: string,
    { base }: CodexHead,
    end = Number.POSITIVE_INFINITY,
    depth = 0,
  ): AsyncGenerator<JsonObject | undefined> {
    if (path.endsWith(".json")) {
      const { session, items } = await readWhole(files, path);
      yield session;
      yield* items;
      return;
    }
    if (base !== undefined) {
      if (depth >= MAX_BASES) throw new ImportProblem(`${path}: its history is spread over too many files`);
      const before = await fileOf(base.rollout);
      if (before === undefined)
        throw new ImportProblem(`${path} goes on from the session ${base.rollout}, which is missing`);
      yield* lines(before.path, before.head, base.end, depth + 1);
    }
    for await (const some of sessionLines(files, path)) {
      for (const line of some) {
        if (line.end > end) return;
        yield objectOf(line);
      }
    }
  }

  /** Returns the title of the first message of a history, which may be in an earlier file. */
  const firstTitle = async (head: CodexHead, depth = 0): Promise<string | null> => {
    const { base } = head;
    const before = base && depth < MAX_BASES ? await fileOf(base.rollout) : undefined;
    if (before === undefined) return head.title;
    const { head: earlier } = before;
    const title = await firstTitle(earlier, depth + 1);
    return title === null || (title === earlier.title && earlier.titleEnd > base!.end) ? head.title : title;
  };

  const nameOfThread = async (id: string): Promise<string | null> => {
    names ??= threadNames(platform, join(home, "session_index.jsonl"));
    return (await names).get(id) ?? null;
  };

  return {
    async list() {
      // The Codex CLI starts another file when a thread is reverted. Only the newest one is listed: the one with the
      // greatest rollout ID, because these IDs sort by time.
      const newest = new Map<string, SessionFile>();
      for (const file of await all()) {
        const { thread, rollout } = nameOf(file.path)!;
        const known = newest.get(thread);
        const before = known === undefined ? "" : nameOf(known.path)!.rollout;
        // While the Codex CLI compresses a file, both versions exist; the plain one is used.
        const isPlain = !file.path.endsWith(".zst");
        if (rollout > before || (rollout === before && isPlain)) newest.set(thread, file);
      }
      return [...newest.values()];
    },

    async outline(path): Promise<SessionOutline | undefined> {
      const head = await read(path);
      if (head === undefined || head.isHelper || head.isEmpty) return undefined;
      return {
        threadId: head.threadId,
        cwd: head.cwd,
        title: (await nameOfThread(head.sessionId)) ?? (await firstTitle(head)),
      };
    },

    async open(path): Promise<Session | undefined> {
      const head = await read(path);
      if (head === undefined || head.isHelper) return undefined;
      const archived = path.startsWith(join(folders[1]!, "/"));
      const name = await nameOfThread(head.sessionId);
      return { head: { ...head, archived }, events: codexEvents(lines(path, head), head, name) };
    },

    locate: (path) =>
      nameOf(path) === undefined ? Promise.resolve(undefined) : pathWithin(platform, path, folders),
  };
}

/** Reads the names that the user gave to threads; the last one of each thread counts. */
async function threadNames(
  { files }: Pick<Platform, "files">,
  path: string,
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  if (!(await files.exists(path))) return names;
  for await (const lines of sessionLines(files, path)) {
    for (const line of lines) {
      const entry = objectOf(line);
      const [id, name] = [textAt(entry, "id"), textAt(entry, "thread_name")?.trim()];
      if (id !== undefined && name) names.set(id, name);
    }
  }
  return names;
}
