import MarkdownIt, { type Token } from "markdown-it";

// Only the search worker loads this module, because the Markdown parser is large.

/** Limit on the length of a message whose Markdown is removed. Longer messages are searched with their Markdown. */
const MAX_CHARS = 256 * 1024;

const markdown = new MarkdownIt("commonmark", { maxNesting: 100 });

/** The text of a message without Markdown and link targets, in one line. */
export function plainText(message: string): string {
  if (message.length > MAX_CHARS) return oneLine(message);
  const parts: string[] = [];
  for (const token of markdown.parse(message, {})) addBlock(token, parts);
  return oneLine(parts.join(""));
}

function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, " ");
}

function addBlock({ type, content, children }: Token, parts: string[]): void {
  switch (type) {
    case "inline":
      for (const child of children ?? []) addInline(child, parts);
      break;
    case "fence":
    case "code_block":
      parts.push(content, " ");
      break;
    case "html_block":
      parts.push(content);
      break;
    default:
      // A space separates blocks.
      if (type === "hr" || type.endsWith("_close")) parts.push(" ");
  }
}

function addInline({ type, content, children }: Token, parts: string[]): void {
  switch (type) {
    case "text":
    case "text_special":
    case "code_inline":
    case "html_inline":
      parts.push(content);
      break;
    case "softbreak":
    case "hardbreak":
      parts.push(" ");
      break;
    case "image":
      for (const child of children ?? []) addInline(child, parts);
      break;
  }
}
