/** The changes to one file in a patch. Paths are as the model wrote them. */
export type FilePatch =
  | { readonly kind: "add"; readonly path: string; readonly lines: readonly string[] }
  | { readonly kind: "delete"; readonly path: string }
  | {
      readonly kind: "update";
      readonly path: string;
      readonly moveTo: string | null;
      readonly hunks: readonly Hunk[];
    };

/** One replacement within a file. */
export interface Hunk {
  /** Line number in the patch text, from 1. */
  readonly patchLine: number;
  /** Lines of the file that come before the hunk, in order: the texts after `@@`. */
  readonly anchors: readonly string[];
  readonly edits: readonly Edit[];
  /** Whether the hunk is at the end of the file. */
  readonly atEnd: boolean;
}

/** A line of a hunk. */
export interface Edit {
  readonly kind: "keep" | "remove" | "add";
  readonly text: string;
}

/** The reason why a patch cannot be applied, written for the model. */
export class PatchError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "PatchError";
  }
}

const BEGIN = "*** Begin Patch";
const END = "*** End Patch";
const END_OF_FILE = "*** End of File";
const FILE = /^\*\*\* (Add|Delete|Update) File:(?: (.*))?$/;
const MOVE = /^\*\*\* Move to:(?: (.*))?$/;
const ENVIRONMENT = /^\*\*\* Environment ID: /;
const HEREDOC = /^(?:cat\s+)?<<-?\s*(['"]?)(\w+)\1$/;

/** Limit on the characters of a patch: more than models write, and few enough to match quickly. */
const MAX_PATCH_LENGTH = 4 * 1024 * 1024;

/** Parses a patch in the `*** Begin Patch` format. Throws a PatchError that names the line. */
export function parsePatch(text: string): readonly FilePatch[] {
  if (text.length > MAX_PATCH_LENGTH)
    throw new PatchError(`The patch is longer than ${MAX_PATCH_LENGTH} characters. Split it into several.`);
  return new PatchReader(linesOf(text)).read();
}

interface NumberedLine {
  readonly text: string;
  readonly number: number;
}

/** The lines between the first and the last line of the patch, without blank lines and a heredoc around it. */
function linesOf(text: string): readonly NumberedLine[] {
  const raw = text.split("\n");
  const ownEnds = raw.length > 1 && raw.slice(0, -1).every((line) => line.endsWith("\r"));
  let lines = raw.map((line, at) => ({
    text: ownEnds && line.endsWith("\r") ? line.slice(0, -1) : line,
    number: at + 1,
  }));
  lines = trimmed(lines);
  const heredoc = HEREDOC.exec(lines[0]?.text.trim() ?? "");
  if (heredoc !== null && lines.at(-1)?.text.trim() === heredoc[2]) lines = trimmed(lines.slice(1, -1));
  if (lines[0]?.text.trim() !== BEGIN) throw new PatchError(`The first line of a patch is "${BEGIN}".`);
  if (lines.at(-1)?.text.trim() !== END) throw new PatchError(`The last line of a patch is "${END}".`);
  return lines.slice(1, -1);
}

function trimmed(lines: readonly NumberedLine[]): NumberedLine[] {
  const isBlank = ({ text }: NumberedLine): boolean => text.trim() === "";
  let from = 0;
  let to = lines.length;
  while (from < to && isBlank(lines[from]!)) from++;
  while (to > from && isBlank(lines[to - 1]!)) to--;
  return lines.slice(from, to);
}

class PatchReader {
  readonly #lines: readonly NumberedLine[];
  #at = 0;

  constructor(lines: readonly NumberedLine[]) {
    this.#lines = lines;
  }

  read(): readonly FilePatch[] {
    const files: FilePatch[] = [];
    if (ENVIRONMENT.test(this.#peek()?.text ?? "")) this.#at++;
    for (let line = this.#take(); line !== undefined; line = this.#take()) {
      const header = FILE.exec(line.text.trimEnd());
      if (header !== null) files.push(this.#file(header[1]!, (header[2] ?? "").trim(), line));
      else if (line.text.trim() !== "")
        throw problem(
          line,
          `stands outside of a file. Each file begins with "*** Add File: PATH", "*** Delete File: PATH" or "*** Update File: PATH"`,
        );
    }
    if (files.length === 0) throw new PatchError("The patch changes no file.");
    return files;
  }

  #file(kind: string, path: string, header: NumberedLine): FilePatch {
    if (path === "") throw problem(header, "names no file");
    if (kind === "Delete") return { kind: "delete", path };
    return kind === "Add" ? { kind: "add", path, lines: this.#added() } : this.#update(path, header);
  }

  #added(): readonly string[] {
    const lines: string[] = [];
    for (let line = this.#peek(); line !== undefined && !isHeader(line.text); line = this.#peek()) {
      this.#at++;
      if (line.text.startsWith("+")) lines.push(line.text.slice(1));
      // Models often put an empty line between two files.
      else if (line.text.trim() !== "") throw problem(line, `has to begin with "+": the file is new`);
    }
    return lines;
  }

  #update(path: string, header: NumberedLine): FilePatch {
    const move = MOVE.exec(this.#peek()?.text.trimEnd() ?? "");
    if (move !== null) this.#at++;
    const moveTo = move === null ? null : (move[1] ?? "").trim();
    if (moveTo === "") throw problem(header, `moves ${path} to no name`);
    const hunks: Hunk[] = [];
    for (let hunk = this.#hunk(); hunk !== undefined; hunk = this.#hunk()) hunks.push(hunk);
    if (hunks.length === 0 && moveTo === null) throw problem(header, `says no change of ${path}`);
    return { kind: "update", path, moveTo, hunks };
  }

  #hunk(): Hunk | undefined {
    this.#skipBlankBeforeHeader();
    const first = this.#peek();
    if (first === undefined || isHeader(first.text)) return undefined;
    const anchors = this.#anchors();
    const edits: Edit[] = [];
    let atEnd = false;
    for (let line = this.#peek(); line !== undefined; line = this.#peek()) {
      if (isHeader(line.text) || isAnchor(line.text)) break;
      this.#at++;
      if (line.text.trimEnd() === END_OF_FILE) {
        atEnd = true;
        break;
      }
      edits.push(editOf(line));
    }
    // Blank lines before the next file belong to no hunk.
    const next = this.#peek();
    if (!atEnd && (next === undefined || isHeader(next.text)))
      while (edits.at(-1)?.kind === "keep" && edits.at(-1)!.text === "") edits.pop();
    if (edits.length === 0) throw problem(first, "begins a hunk without lines");
    return { patchLine: first.number, anchors, edits, atEnd };
  }

  #anchors(): readonly string[] {
    const anchors: string[] = [];
    for (let line = this.#peek(); line !== undefined && isAnchor(line.text); line = this.#peek()) {
      this.#at++;
      const anchor = anchorOf(line.text);
      if (anchor !== "") anchors.push(anchor);
    }
    return anchors;
  }

  #skipBlankBeforeHeader(): void {
    let at = this.#at;
    while (this.#lines[at]?.text.trim() === "") at++;
    const next = this.#lines[at];
    if (next === undefined || isHeader(next.text)) this.#at = at;
  }

  #peek(): NumberedLine | undefined {
    return this.#lines[this.#at];
  }

  #take(): NumberedLine | undefined {
    return this.#lines[this.#at++];
  }
}

function isHeader(text: string): boolean {
  return FILE.test(text.trimEnd());
}

function isAnchor(text: string): boolean {
  return text === "@@" || text.startsWith("@@ ");
}

/** The text after `@@`. Line numbers of the unified diff format are ignored, because models often get them wrong. */
function anchorOf(text: string): string {
  const numbered = /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@ ?(.*)$/.exec(text);
  return numbered === null ? text.slice(3) : numbered[1]!;
}

function editOf(line: NumberedLine): Edit {
  const text = line.text.slice(1);
  switch (line.text[0]) {
    case undefined:
      return { kind: "keep", text: "" };
    case " ":
      return { kind: "keep", text };
    case "-":
      return { kind: "remove", text };
    case "+":
      return { kind: "add", text };
    default:
      throw problem(line, `has to begin with " ", "-" or "+"`);
  }
}

function problem({ text, number }: NumberedLine, says: string): PatchError {
  return new PatchError(`Line ${number} of the patch ${says}: ${JSON.stringify(text.slice(0, 200))}`);
}
