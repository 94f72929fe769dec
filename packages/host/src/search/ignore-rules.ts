/** The verdict of a rule. */
export type Verdict = "ignored" | "kept";

interface Rule {
  /** Position in the file. Later rules take precedence. */
  readonly nth: number;
  readonly verdict: Verdict;
  readonly foldersOnly: boolean;
}

interface PatternRule extends Rule {
  readonly pattern: RegExp;
  /**
   * Whether the pattern is matched against the path relative to the rules' folder; otherwise against the last name
   * only.
   */
  readonly anchored: boolean;
}

/**
 * The rules of one `.gitignore` or similar file. Most rules are a name (`node_modules`) or an ending (`*.log`), and
 * are looked up in maps. Only the others are matched one by one.
 */
export class IgnoreRules {
  readonly #names = new Map<string, Rule[]>();
  readonly #endings = new Map<string, Rule[]>();
  readonly #patterns: PatternRule[] = [];

  constructor(text: string) {
    for (const [nth, line] of text
      .replace(/^\ufeff/, "")
      .split("\n")
      .entries())
      this.#add(line, nth);
  }

  get isEmpty(): boolean {
    return this.#names.size === 0 && this.#endings.size === 0 && this.#patterns.length === 0;
  }

  /** The verdict of the last matching rule; undefined if none matches. `path`: relative to the rules' folder. */
  verdict(path: string, name: string, isFolder: boolean): Verdict | undefined {
    let best: Rule | undefined;
    const consider = (rule: Rule): void => {
      if ((!rule.foldersOnly || isFolder) && rule.nth > (best?.nth ?? -1)) best = rule;
    };
    for (const rule of this.#names.get(name) ?? []) consider(rule);
    if (this.#endings.size > 0) {
      const dot = name.lastIndexOf(".");
      if (dot !== -1) for (const rule of this.#endings.get(name.slice(dot)) ?? []) consider(rule);
    }
    for (let at = this.#patterns.length - 1; at >= 0; at--) {
      const rule = this.#patterns[at]!;
      if (rule.nth < (best?.nth ?? -1)) break;
      if ((!rule.foldersOnly || isFolder) && rule.pattern.test(rule.anchored ? path : name)) {
        consider(rule);
        break;
      }
    }
    return best?.verdict;
  }

  #add(line: string, nth: number): void {
    let text = trimLine(line);
    if (text === "" || text.startsWith("#")) return;
    const verdict = text.startsWith("!") ? "kept" : "ignored";
    if (verdict === "kept") text = text.slice(1);
    const foldersOnly = text.endsWith("/");
    if (foldersOnly) text = text.slice(0, -1);
    if (text === "") return;
    const rule: Rule = { nth, verdict, foldersOnly };
    const anchored = text.includes("/");
    if (!anchored && !/[*?[\\]/.test(text)) return push(this.#names, text, rule);
    if (/^\*\.[^*?[\\./]+$/.test(text)) return push(this.#endings, text.slice(1), rule);
    const pattern = patternOf(simplifyStars(text.replace(/^\//, "")), anchored);
    if (pattern !== undefined) this.#patterns.push({ ...rule, pattern, anchored });
  }
}

/** Removes the carriage return and trailing spaces, except a space escaped by a backslash. */
function trimLine(line: string): string {
  const text = line.replace(/\r$/, "");
  const end = /(\\*)?( *)$/.exec(text)!;
  const [, slashes = "", spaces = ""] = end;
  if (spaces === "") return text;
  const escaped = slashes.length % 2 === 1 ? 1 : 0;
  return text.slice(0, text.length - spaces.length + escaped);
}

/** Simplifies stars: three or more become two, and repeated folders of two stars become one. */
function simplifyStars(glob: string): string {
  return glob
    .replace(/(^|\/)\*{3,}(?=\/|$)/g, "$1**")
    .replace(/(^|\/)(?:\*\*\/)+/g, "$1**/")
    .replace(/(^|\/)\*\*\/\*\*$/, "$1**");
}

function push(rules: Map<string, Rule[]>, key: string, rule: Rule): void {
  rules.set(key, [...(rules.get(key) ?? []), rule]);
}

/** Compiles a glob; undefined if it can match nothing. */
function patternOf(glob: string, anchored: boolean): RegExp | undefined {
  if (anchored && glob === "**") return /^.+$/s;
  let source = "^";
  let at = 0;
  if (anchored && glob.startsWith("**/")) {
    source += "(?:.*/)?";
    at = 3;
  }
  while (at < glob.length) {
    if (anchored && glob.startsWith("/**/", at)) {
      source += "/(?:.*/)?";
      at += 4;
    } else if (anchored && glob.startsWith("/**", at) && at + 3 === glob.length) {
      source += "/.+";
      at += 3;
    } else if (glob[at] === "*") {
      while (glob[at] === "*") at++;
      source += "[^/]*";
    } else if (glob[at] === "?") {
      source += "[^/]";
      at++;
    } else if (glob[at] === "[") {
      const set = setAt(glob, at);
      if (set === undefined) return undefined;
      source += set.source;
      at = set.end;
    } else {
      if (glob[at] === "\\") at++;
      if (at === glob.length) return undefined;
      source += escaped(glob[at]!);
      at++;
    }
  }
  try {
    return new RegExp(`${source}$`, "su");
  } catch {
    // The glob is invalid, for example a reversed range.
    return undefined;
  }
}

const NAMED_SETS: Readonly<Record<string, string>> = {
  alnum: "a-zA-Z0-9",
  alpha: "a-zA-Z",
  blank: " \\t",
  cntrl: "\\x00-\\x1f\\x7f",
  digit: "0-9",
  graph: "\\x21-\\x7e",
  lower: "a-z",
  print: "\\x20-\\x7e",
  punct: "!-\\x2f:-@\\x5b-`{-~",
  space: "\\s",
  upper: "A-Z",
  xdigit: "a-fA-F0-9",
};

/** Compiles a character set such as `[a-z]` or `[!a]`; undefined if it is not closed. */
function setAt(glob: string, start: number): { readonly source: string; readonly end: number } | undefined {
  let at = start + 1;
  const negated = glob[at] === "!" || glob[at] === "^";
  if (negated) at++;
  let inside = "";
  for (let first = true; first || glob[at] !== "]"; first = false) {
    if (at >= glob.length) return undefined;
    const named = /^\[:(\w+):\]/.exec(glob.slice(at));
    if (named !== null) {
      const set = NAMED_SETS[named[1]!];
      if (set === undefined) return undefined;
      inside += set;
      at += named[0].length;
      continue;
    }
    const isRange = glob[at] === "-" && !first && glob[at + 1] !== "]";
    if (isRange) inside += "-";
    else {
      if (glob[at] === "\\") at++;
      if (at >= glob.length) return undefined;
      inside += escaped(glob[at]!);
    }
    at++;
  }
  // A set never matches a slash.
  return { source: `(?!/)[${negated ? "^" : ""}${inside}]`, end: at + 1 };
}

function escaped(letter: string): string {
  return /[\w\s]/u.test(letter) || letter > "\x7f"
    ? letter
    : `\\x${letter.charCodeAt(0).toString(16).padStart(2, "0")}`;
}
