import { FrontMatterError, readFrontMatter } from "../skills/front-matter.ts";

/** Why a file cannot be used as a prompt. */
export class PromptError extends Error {}

export interface PromptText {
  readonly description: string | null;
  readonly argumentHint: string | null;
  readonly content: string;
}

const MAX_DESCRIPTION = 1024;
const MAX_HINT = 256;
const HEAD = /^---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m;

/**
 * Splits a prompt's file into its front matter and its content. The front matter may be missing. Throws if it is
 * invalid, or if there is no content.
 */
export function parsePrompt(file: string): PromptText {
  const text = file.replace(/^\uFEFF/, "");
  if (text.includes("\0")) throw new PromptError("the file is not text");
  const head = text.startsWith("---") ? HEAD.exec(text) : null;
  const [all, fields] = head?.index === 0 ? [head[0], head[1]!] : ["", ""];
  const content = text.slice(all.length).trim();
  if (content === "") throw new PromptError("the prompt is empty");
  const known = all === "" ? new Map<string, string>() : frontMatter(all);
  const field = (name: string, max: number): string | null => {
    const value = known.get(name) ?? plainValue(fields, name);
    return value?.replace(/\s+/g, " ").trim().slice(0, max) || null;
  };
  return {
    description: field("description", MAX_DESCRIPTION),
    argumentHint: field("argument-hint", MAX_HINT) ?? field("argument_hint", MAX_HINT),
    content,
  };
}

function frontMatter(head: string): ReadonlyMap<string, string> {
  try {
    return readFrontMatter(head);
  } catch (cause) {
    if (cause instanceof FrontMatterError) throw new PromptError(cause.message);
    throw cause;
  }
}

/** The text behind a key. People write hints such as `[FILE] [LINE]`, which are lists or invalid in YAML. */
function plainValue(fields: string, name: string): string | undefined {
  const line = fields.split(/\r?\n/).find((one) => one.startsWith(`${name}:`));
  return line?.slice(name.length + 1);
}
