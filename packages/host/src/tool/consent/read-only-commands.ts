import type { ParsedCommand } from "./parse-command.ts";

/**
 * Whether a command certainly changes no files. A program or an option that is not listed here may write: `sort -o FILE`,
 * `tree -o FILE`, `rg --pre PROGRAM`, `printf -v 'a[$(PROGRAM)]'`.
 */
export function onlyReads({ words }: Pick<ParsedCommand, "words">): boolean {
  return words !== null && words.length > 0 && words.every(isReading);
}

/** The options of a program that write nothing and run nothing, and how many operands it only reads. */
interface ReadingOptions {
  /** Short options without a value, as letters. */
  readonly flags: string;
  /** Short options with a value, as letters. */
  readonly values: string;
  /** Long options without a value, or whose value follows `=`. */
  readonly long: ReadonlySet<string>;
  /** Long options whose value may be the next word. */
  readonly longValues: ReadonlySet<string>;
  readonly maxOperands: number;
}

function options(
  flags: string,
  values = "",
  { long = "", longValues = "", maxOperands = Number.POSITIVE_INFINITY } = {},
): ReadingOptions {
  const names = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/).filter((one) => one !== ""));
  return { flags, values, long: names(long), longValues: names(longValues), maxOperands };
}

/** Programs that have no option to write a file or to run a program. */
export const READERS: ReadonlySet<string> = new Set(
  "cat cd column cut du echo egrep eza exa false fgrep grep head ls nl pwd tail tr true wc".split(" "),
);

const BAT = options("npAuf", "lrHm", {
  long: "plain number show-all unbuffered",
  longValues: "theme language style line-range highlight-line color decorations paging tabs wrap file-name",
});

const FD = options("HIusigFaLp01q", "teEdScj", {
  long: `hidden no-ignore no-ignore-vcs no-ignore-parent unrestricted case-sensitive ignore-case glob regex fixed-strings
        absolute-path follow full-path print0 quiet show-errors prune`,
  longValues: `type extension exclude max-depth min-depth exact-depth size changed-within changed-before max-results
        search-path base-directory color threads owner`,
});

const OPTIONS: ReadonlyMap<string, ReadingOptions> = new Map([
  ["bat", BAT],
  ["batcat", BAT],
  ["fd", FD],
  ["fdfind", FD],
  ["less", options("eEFgGiImMnNqQrRsSuUwWX", "")],
  ["more", options("dflpcsu", "n")],
  [
    "rg",
    options("iSsvnNHhIlcowxUFLaPpqu0.", "gtTmABCdMjefrE", {
      long: `files hidden no-hidden no-ignore no-ignore-vcs no-ignore-parent unrestricted ignore-case smart-case case-sensitive
        invert-match line-number no-line-number with-filename no-filename files-with-matches files-without-match count
        count-matches only-matching word-regexp line-regexp multiline multiline-dotall fixed-strings follow text pcre2 pretty
        quiet null heading no-heading column trim vimgrep json stats no-messages no-config crlf one-file-system passthru`,
      longValues: `glob iglob type type-not type-add max-count after-context before-context context max-depth max-columns
        max-filesize threads regexp file replace encoding sort sortr color colors path-separator`,
    }),
  ],
  ["sed", options("nErsuz", "e", { long: "quiet silent regexp-extended", longValues: "expression" })],
  [
    "sort",
    options("bdfghiMnRrVcCmsuz", "ktS", {
      long: `ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort
        human-numeric-sort numeric-sort random-sort reverse version-sort check merge stable unique zero-terminated`,
      longValues: "key field-separator buffer-size parallel sort",
    }),
  ],
  [
    "tree",
    options("adfxlpshugDFqNQvtcrinCAS", "LPI", {
      long: "dirsfirst noreport prune du si gitignore matchdirs ignore-case inodes device",
      longValues: "filelimit charset sort timefmt",
    }),
  ],
  [
    "uniq",
    options("cdDiuz", "fsw", {
      long: "count repeated all-repeated group ignore-case unique zero-terminated",
      longValues: "skip-fields skip-chars check-chars",
      // The second operand is the file that it writes.
      maxOperands: 1,
    }),
  ],
]);

const GIT_OPTIONS: ReadonlyMap<string, ReadingOptions> = new Map([
  [
    "grep",
    options("aIivwhHEGFPnlLzocpWq", "ABCef", {
      long: `all-match and break cached color count extended-regexp files-with-matches files-without-match fixed-strings
        full-name function-context heading ignore-case invert-match line-number name-only no-color no-index not null
        only-matching or perl-regexp quiet recurse-submodules show-function text untracked word-regexp`,
      longValues: "after-context before-context context max-depth max-count threads",
    }),
  ],
  [
    "ls-files",
    options("cdmoistukzvf", "xX", {
      long: `cached deleted modified others ignored stage unmerged killed directory no-empty-directory exclude-standard
        error-unmatch full-name recurse-submodules deduplicate eol debug abbrev`,
      longValues: "exclude exclude-from exclude-per-directory with-tree format",
    }),
  ],
]);

/** Tests, actions and options of `find` that write nothing and run nothing. */
const FIND: ReadonlySet<string> = new Set(
  `-H -L -P -a -amin -and -anewer -atime -cmin -cnewer -ctime -daystart -depth -empty -executable -false -follow -fstype
  -gid -group -ilname -iname -inum -ipath -iregex -iwholename -links -lname -ls -maxdepth -mindepth -mmin -mount -mtime
  -name -newer -nogroup -noleaf -not -nouser -o -or -path -perm -print -print0 -printf -prune -quit -readable -regex
  -regextype -samefile -size -true -type -uid -used -user -wholename -writable -xdev -xtype`.split(/\s+/),
);

function isReading([name = "", ...args]: readonly string[]): boolean {
  if (READERS.has(name)) return true;
  switch (name) {
    case "find":
      return args.every((arg) => !arg.startsWith("-") || /^-\d/.test(arg) || FIND.has(arg));
    case "git": {
      const [command = "", ...rest] = args;
      const known = GIT_OPTIONS.get(command);
      return known !== undefined && operandsOf(rest, known) !== null;
    }
    case "sed":
      return isReadingSed(args);
    case "printf":
      return !args[0]?.startsWith("-");
    case "less":
    case "more":
      // `+` begins commands, which can run programs.
      if (args.some((arg) => arg.startsWith("+"))) return false;
  }
  const known = OPTIONS.get(name);
  const operands = known === undefined ? null : operandsOf(args, known);
  return operands !== null && operands.length <= known!.maxOperands;
}

/** The operands of a program; null if it has an option that is not listed. */
function operandsOf(args: readonly string[], known: ReadingOptions): readonly string[] | null {
  const found: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!;
    if (arg === "--") return [...found, ...args.slice(at + 1)];
    if (!arg.startsWith("-") || arg === "-") {
      found.push(arg);
      continue;
    }
    const takesNext = arg.startsWith("--") ? takesNextLong(arg.slice(2), known) : takesNextShort(arg, known);
    if (takesNext === null) return null;
    if (takesNext) at++;
  }
  return found;
}

/** Whether the value of a long option is the next word; null if the option is not listed. */
function takesNextLong(option: string, { long, longValues }: ReadingOptions): boolean | null {
  const [name = ""] = option.split("=", 1);
  if (longValues.has(name)) return !option.includes("=");
  return long.has(name) ? false : null;
}

/** Like `takesNextLong`, for letters after one hyphen. */
function takesNextShort(arg: string, { flags, values }: ReadingOptions): boolean | null {
  for (let at = 1; at < arg.length; at++) {
    if (values.includes(arg[at]!)) return at === arg.length - 1;
    if (!flags.includes(arg[at]!)) return null;
  }
  return false;
}

/** Whether a `sed` only prints lines by their numbers. Scripts can also write files and run programs. */
function isReadingSed(args: readonly string[]): boolean {
  const operands = operandsOf(args, OPTIONS.get("sed")!);
  if (operands === null) return false;
  const scripts = args.flatMap((arg, at) => {
    if (arg === "-e" || arg === "--expression") return [args[at + 1] ?? ""];
    return /^(-[^-]*e|--expression=)/.test(arg) ? [arg] : [];
  });
  const script = scripts.length > 0 ? scripts : operands.slice(0, 1);
  return script.length > 0 && script.every((one) => /^(\d+|\$)(,(\d+|\$))?p$/.test(one));
}
