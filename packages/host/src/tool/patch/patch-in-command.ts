import { type Command, type HereDoc, parse, type SyntaxNode } from "unbash";
import { isTooComplex, literalOf } from "../consent/shell-syntax.ts";

/** A patch inside of a command. `workdir`: the folder of a leading `cd`, as written; null if there is none. */
export interface CommandPatch {
  readonly patch: string;
  readonly workdir: string | null;
}

/** Limit on the length of the first line, which contains only a path and a name. */
const MAX_HEAD = 4096;
const NAMES: ReadonlySet<string | undefined> = new Set(["apply_patch", "applypatch"]);

/**
 * Finds the patch in a command that does nothing else: `apply_patch <<'EOF'`, `cd FOLDER && apply_patch <<'EOF'`, or
 * the patch in single quotes. Null for any other command; the shell runs it. Only the first line is parsed, so that a
 * long patch takes little time.
 */
export function patchInCommand(text: string): CommandPatch | null {
  const start = text.length - text.trimStart().length;
  const eol = text.indexOf("\n", start);
  const head = text.slice(start, eol < 0 ? undefined : eol).trimEnd();
  if (eol < 0 || head.length > MAX_HEAD || !/\bapply_?patch\b/.test(head)) return null;
  const quoted = inQuotes(text.slice(start).trimEnd());
  if (quoted !== null) return quoted;
  const found = commandsOf(head);
  const document = found && documentOf(found.patch);
  if (found == null || document == null) return null;
  const body = bodyOf(text.slice(eol + 1), document);
  return body === null ? null : { patch: body, workdir: found.workdir };
}

interface HeadCommands {
  readonly patch: Command;
  readonly workdir: string | null;
}

/** Parses `apply_patch …` or `cd FOLDER && apply_patch …`; null for anything else. */
function commandsOf(head: string): HeadCommands | null {
  if (isTooComplex(head)) return null;
  const { commands, errors = [] } = parse(`${head}\n`);
  const [statement, ...more] = commands;
  if (statement === undefined || statement.background || more.length > 0 || errors.length > 1) return null;
  const all = chained(statement.command);
  const patch = all?.at(-1);
  if (patch === undefined || !NAMES.has(patch.name?.value) || patch.prefix.length > 0) return null;
  if (all!.length === 1) return { patch, workdir: null };
  const workdir = all!.length === 2 ? folderOf(all![0]!) : null;
  return workdir === null ? null : { patch, workdir };
}

/** The commands joined by `&&`; null if there is any other operator. */
function chained(node: SyntaxNode): readonly Command[] | null {
  if (node.type === "Command") return [node];
  if (node.type !== "AndOr" || node.operators.some((one) => one !== "&&")) return null;
  const found = node.commands.flatMap((one) => (one.type === "Command" ? [one] : []));
  return found.length === node.commands.length ? found : null;
}

/** The folder of a `cd` command; null if the shell would expand it. */
function folderOf({ name, prefix, suffix }: Command): string | null {
  const [folder, ...more] = suffix;
  if (name?.value !== "cd" || prefix.length > 0 || folder?.type !== "Word" || more.length > 0) return null;
  const path = literalOf(folder);
  // The shell would expand these paths.
  return path === null || /^[-~]|^$/.test(path) || /[*?[\]{}]/.test(folder.text) ? null : path;
}

/** The heredoc, if it is the command's only argument. */
function documentOf({ suffix }: Command): HereDoc | null {
  const [document, ...more] = suffix;
  return document?.type === "HereDoc" && more.length === 0 ? document : null;
}

/** The heredoc's text; null if other commands follow it. */
function bodyOf(rest: string, { delimiter, operator }: HereDoc): string | null {
  if (delimiter === undefined) return null;
  const lines = rest.split("\n");
  const stripped = operator === "<<-" ? lines.map((line) => line.replace(/^\t+/, "")) : lines;
  const isEnd = (line: string): boolean => line === delimiter.value || line === `${delimiter.value}\r`;
  const end = stripped.findIndex(isEnd);
  // A shell accepts a heredoc without a closing line.
  const body = stripped.slice(0, end < 0 ? undefined : end);
  if (end >= 0 && lines.slice(end + 1).some((line) => line.trim() !== "")) return null;
  const text = body.map((line) => `${line}\n`).join("");
  return delimiter.quoted ? text : unescaped(text);
}

/**
 * Resolves backslashes as a shell does in an unquoted heredoc. Variables are not expanded: a patch that contains `$x`
 * means that text.
 */
function unescaped(text: string): string {
  return text.replace(/\\([$`\\\n])/g, (_, char: string) => (char === "\n" ? "" : char));
}

const QUOTED = /^(?:cd +([\w./+@,:-]+|'[^'\n]+') *&& *)?apply_?patch +'([^']*)'$/;

function inQuotes(text: string): CommandPatch | null {
  const found = QUOTED.exec(text);
  if (found === null) return null;
  const [, folder, patch] = found;
  if (folder !== undefined && /^'?[-~]/.test(folder)) return null;
  return { patch: patch!, workdir: folder?.replaceAll("'", "") ?? null };
}
