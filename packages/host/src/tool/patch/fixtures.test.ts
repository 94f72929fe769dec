// Runs the cases in fixtures/: see the page there for their form.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PatchError, parsePatch } from "./parse-patch.ts";
import { planPatch } from "./plan-patch.ts";

/** Texts are byte strings. */
interface Case {
  readonly title: string;
  readonly onlyLf: boolean;
  readonly before: ReadonlyMap<string, string>;
  readonly patch: string;
  readonly after: ReadonlyMap<string, { readonly content: string | null; readonly isNew: boolean }>;
  readonly error: string | undefined;
}

const FOLDER = join(import.meta.dirname, "fixtures");
const BOM = "\u00ef\u00bb\u00bf";

const bytes = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

/** The lines of a section as the content that they stand for. */
function contentOf(lines: readonly string[]): string {
  const text = bytes(lines.map((line) => `${line}\n`).join(""));
  return text
    .replaceAll(bytes("␍"), "\r")
    .replaceAll(bytes("␀"), "\0")
    .replace(new RegExp(`${bytes("⟪")}([0-9a-f]{2})${bytes("⟫")}`, "g"), (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
    .replace(new RegExp(`${bytes("␄")}\n$`), "");
}

function caseOf(text: string): Case {
  const [head, ...lines] = text.split("\n");
  const before = new Map<string, string>();
  const after = new Map<string, { content: string | null; isNew: boolean }>();
  let patch = "";
  let error: string | undefined;
  const sections: { readonly mark: string; readonly lines: string[] }[] = [];
  for (const line of lines) {
    if (/^(<<<|>>>|!!!|@@@)( |$)/.test(line)) sections.push({ mark: line, lines: [] });
    else sections.at(-1)?.lines.push(line);
  }
  for (const section of sections) {
    const [, kind, rest = ""] = /^(\S+)(?: (.*))?$/.exec(section.mark)!;
    const content = contentOf(section.lines);
    if (kind === "<<<") before.set(rest, content);
    else if (kind === "!!!") error = rest;
    else if (kind === "@@@") {
      const whole = rest === "whole" ? content : `*** Begin Patch\n${content}*** End Patch\n`;
      patch = Buffer.from(whole, "latin1").toString("utf8");
    } else if (rest.endsWith(" gone")) after.set(rest.slice(0, -5), { content: null, isNew: false });
    else after.set(rest.replace(/ \[new\]$/, ""), { content, isNew: rest.endsWith(" [new]") });
  }
  const title = head!.replace(/ \[lf\]$/, "");
  return { title, onlyLf: head!.endsWith(" [lf]"), before, patch, after, error };
}

/** The ways in which a case is run: how its files and its patch are written. */
const FORMS: Readonly<Record<string, { file(text: string): string; patch(text: string): string }>> = {
  "as it is": { file: (text) => text, patch: (text) => text },
  "with CRLF files": {
    file: (text) => text.replaceAll("\n", "\r\n"),
    patch: (text) => text,
  },
  "with a BOM": { file: (text) => BOM + text, patch: (text) => text },
  "with a CRLF patch": {
    file: (text) => text,
    patch: (text) => text.replaceAll("\n", "\r\n"),
  },
};

/** The files after a patch, or its error. */
async function applied(
  patch: string,
  files: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string> | string> {
  const at = (path: string): string => join("/work", path);
  const disk = new Map([...files].map(([path, content]) => [at(path), content]));
  try {
    const { writes } = await planPatch(parsePatch(patch), "/work", async (path) => disk.get(path) ?? null);
    for (const { path, before, after } of writes) {
      expect(before, path).toBe(disk.get(path) ?? null);
      if (after === null) disk.delete(path);
      else disk.set(path, after);
    }
  } catch (cause) {
    if (cause instanceof PatchError) return cause.message;
    throw cause;
  }
  return new Map([...disk].map(([path, content]) => [path.slice("/work/".length), content]));
}

const titles = new Set<string>();
for (const file of readdirSync(FOLDER).filter((name) => name.endsWith(".txt"))) {
  const text = readFileSync(join(FOLDER, file), "utf8");
  const cases = text
    .split(/^=== /m)
    .slice(1)
    .map((one) => caseOf(one.replace(/\n$/, "")));
  describe(`a patch (${file})`, () => {
    for (const one of cases) {
      titles.add(one.title);
      for (const [name, form] of Object.entries(FORMS)) {
        if (one.onlyLf && name !== "as it is") continue;
        it(`[PATCH-15] ${one.title}, ${name}`, async () => {
          const before = new Map([...one.before].map(([path, content]) => [path, form.file(content)]));
          const result = await applied(form.patch(one.patch), before);
          if (one.error !== undefined) {
            expect(typeof result === "string" ? result : [...result], "an error").toContain(one.error);
            return;
          }
          const expected = new Map(before);
          for (const [path, { content, isNew }] of one.after) {
            if (content === null) expected.delete(path);
            else expected.set(path, isNew ? content : form.file(content));
          }
          expect(result).toEqual(expected);
        });
      }
    }
  });
}

it("[PATCH-15] has at least 200 fixtures", () => {
  expect(titles.size).toBeGreaterThanOrEqual(200);
});
