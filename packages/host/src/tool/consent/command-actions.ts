import { basename, resolve } from "node:path";
import type { CommandAction } from "@bobbin/protocol";
import type { ParsedCommand } from "./parse-command.ts";
import { onlyReads } from "./read-only-commands.ts";

/**
 * Describes what a command does (reads, lists, searches). Clients show that instead of the command's text. If a part
 * of the command is not recognized, or may do anything but read, the whole command is `unknown`.
 */
export function commandActions(parsed: ParsedCommand, cwd: string): CommandAction[] {
  const { text, words } = parsed;
  const unknown: CommandAction[] = [{ type: "unknown", command: text }];
  if (words === null || !onlyReads(parsed)) return unknown;
  const actions: CommandAction[] = [];
  let folder = cwd;
  const main = words.filter((one) => !isFilter(one));
  for (const [at, one] of main.entries()) {
    const [name, ...args] = one;
    if (name === "cd") {
      folder = resolve(folder, operands(args)[0] ?? ".");
      continue;
    }
    // `true` and `echo` beside other commands are not shown.
    if (main.length > 1 && (name === "true" || (name === "echo" && at === 0))) continue;
    const action = actionOf(one, folder);
    if (action === null) return unknown;
    if (JSON.stringify(action) !== JSON.stringify(actions.at(-1))) actions.push(action);
  }
  return actions.length === 0 ? unknown : actions;
}

function actionOf(words: readonly string[], folder: string): CommandAction | null {
  const [name, ...args] = words as readonly [string, ...string[]];
  const command = quoted(words);
  const read = (path: string | undefined): CommandAction | null =>
    path === undefined ? null : { type: "read", command, name: shortPath(path), path: resolve(folder, path) };
  const list = (path: string | undefined): CommandAction => ({
    type: "listFiles",
    command,
    path: path === undefined ? null : shortPath(path),
  });
  const search = (query: string | undefined, path: string | undefined): CommandAction => ({
    type: "search",
    command,
    query: query ?? null,
    path: path === undefined ? null : shortPath(path),
  });
  switch (name) {
    case "ls":
    case "eza":
    case "exa":
      return list(
        operands(args, ["-I", "-w", "--ignore-glob", "--sort", "--time", "--time-style", "--color"])[0],
      );
    case "tree":
      return list(operands(args, ["-L", "-P", "-I", "--charset", "--filelimit", "--sort"])[0]);
    case "du":
      return list(operands(args, ["-d", "-B", "--max-depth", "--block-size", "--exclude"])[0]);
    case "rg": {
      const found = operands(args, RG_VALUES);
      return args.includes("--files") ? list(found[0]) : search(found[0], found[1]);
    }
    case "grep":
    case "egrep":
    case "fgrep":
      return grep(args, search);
    case "git":
      if (args[0] === "grep") return grep(args.slice(1), search);
      return args[0] === "ls-files"
        ? list(operands(args.slice(1), ["--exclude", "--exclude-from"])[0])
        : null;
    case "fd":
    case "fdfind": {
      const found = operands(args, [
        "-t",
        "--type",
        "-e",
        "--extension",
        "-E",
        "--exclude",
        "-d",
        "--search-path",
      ]);
      if (found.length === 1 && found[0]!.includes("/")) return list(found[0]);
      return found.length === 0 ? list(undefined) : search(found[0], found[1]);
    }
    case "find": {
      const path = args.find((arg) => !/^[-!()]/.test(arg));
      const named = args.findIndex((arg) => /^-(i?name|i?path|i?regex)$/.test(arg));
      return named < 0 ? list(path) : search(args[named + 1], path);
    }
    case "cat":
    case "more":
      return read(only(operands(args)));
    case "bat":
    case "batcat":
      return read(only(operands(args, ["--theme", "--language", "-l", "--style", "--line-range", "-r"])));
    case "less":
      return read(only(operands(args, ["-p", "-P", "-x", "-y", "-z", "-j"])));
    case "head":
    case "tail":
      return read(only(operands(args, ["-n", "-c", "--lines", "--bytes"])));
    case "nl":
      return read(only(operands(args, ["-s", "-w", "-v", "-i", "-b"])));
    case "sed":
      return read(sedFile(args));
    default:
      return null;
  }
}

const RG_VALUES = [
  ...["-g", "--glob", "--iglob", "-t", "--type", "-T", "--type-not", "--type-add", "-m", "--max-count"],
  ...["-A", "-B", "-C", "--after-context", "--before-context", "--context", "-d", "--max-depth", "-M", "-j"],
];
const GREP_VALUES = [
  "-m",
  "--max-count",
  "-A",
  "-B",
  "-C",
  "--after-context",
  "--before-context",
  "--context",
];
const GREP_PATTERNS = ["-e", "--regexp", "-f", "--file"];

function grep(
  args: readonly string[],
  search: (query: string | undefined, path: string | undefined) => CommandAction,
): CommandAction {
  const found = operands(args, [...GREP_VALUES, ...GREP_PATTERNS]);
  const at = args.findIndex((arg) => GREP_PATTERNS.includes(arg));
  return at < 0 ? search(found[0], found[1]) : search(args[at + 1], found[0]);
}

/** The file that `sed -n 1,20p FILE` prints. */
function sedFile(args: readonly string[]): string | undefined {
  if (!args.includes("-n")) return undefined;
  const scripts = args.flatMap((arg, at) =>
    arg === "-e" || arg === "--expression" ? [args[at + 1] ?? ""] : [],
  );
  const rest = operands(args, ["-e", "--expression", "-f", "--file"]);
  const files = scripts.length > 0 ? rest : rest.slice(1);
  return only(files);
}

/** Whether a command only filters the output of others. */
function isFilter([name, ...args]: readonly string[]): boolean {
  switch (name) {
    case "wc":
    case "tr":
    case "cut":
    case "sort":
    case "uniq":
    case "column":
    case "printf":
      return true;
    case "head":
    case "tail":
      return operands(args, ["-n", "-c", "--lines", "--bytes"]).length === 0;
    case "nl":
      return operands(args, ["-s", "-w", "-v", "-i", "-b"]).length === 0;
    case "sed":
      return args[0] === "-n" && args.length === 2;
    default:
      return false;
  }
}

/** The arguments that are neither options nor values of the options in `valued`. */
function operands(args: readonly string[], valued: readonly string[] = []): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!;
    if (arg === "--") return [...found, ...args.slice(at + 1)];
    if (valued.includes(arg)) at++;
    else if (!arg.startsWith("-") || arg === "-") found.push(arg);
  }
  return found;
}

function only(found: readonly string[]): string | undefined {
  return found.length === 1 ? found[0] : undefined;
}

const UNTELLING_FOLDERS: ReadonlySet<string> = new Set(["", "build", "dist", "node_modules", "src"]);

/** The last part of a path, except for parts such as `src` and `dist`, which say nothing about the file. */
function shortPath(path: string): string {
  const parts = path.split("/").filter((part) => !UNTELLING_FOLDERS.has(part));
  return parts.at(-1) ?? (basename(path) || path);
}

function quoted(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(" ");
}
