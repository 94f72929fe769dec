import type { Session } from "./session-events.ts";

/** A file that contains a session. */
export interface SessionFile {
  readonly path: string;
  /** The time of the file's last change, for sorting. */
  readonly modifiedAt: number;
}

/** Facts about a session for a list. */
export interface SessionOutline {
  readonly threadId: string;
  readonly cwd: string;
  readonly title: string | null;
}

/** The sessions of one agent. */
export interface SessionReader {
  /** Returns all files that may contain a session, unsorted. */
  list(): Promise<readonly SessionFile[]>;
  /** Returns undefined if the file contains no message, or belongs to another session. Throws if it cannot be read. */
  outline(path: string): Promise<SessionOutline | undefined>;
  /** Returns undefined in the same cases as `outline`. */
  open(path: string): Promise<Session | undefined>;
  /** Returns the path if `list` could return it, after resolving symlinks; undefined if it is elsewhere. */
  locate(path: string): Promise<string | undefined>;
}

/** Limit on the length of a title. */
const TITLE_CHARACTERS = 120;

export function titleOf(text: string): string | null {
  const line = text.trim().split(/\r?\n/, 1)[0]!.trim();
  if (line === "") return null;
  return line.length > TITLE_CHARACTERS ? `${line.slice(0, TITLE_CHARACTERS)}…` : line;
}
