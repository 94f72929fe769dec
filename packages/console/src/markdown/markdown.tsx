import type { Token, Tokens } from "marked";
import type { ComponentChildren, VNode } from "preact";
import { useMemo } from "preact/hooks";
import { memo } from "../parts/memo.tsx";
import { CodeBlock } from "./code-block.tsx";
import { decodeEntities } from "./entities.ts";
import { IncrementalParser } from "./incremental-parser.ts";
import { safeLink } from "./safe-link.ts";

/**
 * Shows Markdown. The text is parsed into tokens, and each token becomes a Preact node: HTML in the text is shown as
 * text, and links lead only to web and mail addresses.
 */
export function Markdown({ text }: { text: string }) {
  const parser = useMemo(() => new IncrementalParser(), []);
  return (
    <div class="markdown">
      {parser.parse(text).map((token, at) => (
        <Block key={at} raw={token.raw} token={token} />
      ))}
    </div>
  );
}

/** A block is rendered again only if its text has changed. In a streaming message, that is the last block. */
const Block = memo(
  ({ token }: { raw: string; token: Token }) => <>{block(token)}</>,
  (before, after) => before.raw === after.raw && before.token.type === after.token.type,
);

function block(token: Token): ComponentChildren {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      return heading(token as Tokens.Heading);
    case "code": {
      const { text, lang } = token as Tokens.Code;
      return <CodeBlock text={text} language={lang?.split(/\s/, 1)[0] ?? ""} />;
    }
    case "hr":
      return <hr />;
    case "blockquote":
      return <blockquote dir="auto">{blocks((token as Tokens.Blockquote).tokens)}</blockquote>;
    case "list":
      return list(token as Tokens.List);
    case "table":
      return table(token as Tokens.Table);
    case "paragraph":
      return <p dir="auto">{inlines((token as Tokens.Paragraph).tokens)}</p>;
    case "html":
      return <p dir="auto">{token.raw}</p>;
    default:
      return inline(token);
  }
}

const blocks = (tokens: readonly Token[]): ComponentChildren => tokens.map(block);
const inlines = (tokens: readonly Token[] | undefined): ComponentChildren => tokens?.map(inline) ?? null;

/**
 * All headings of a message have the same level, below the headings of the page, because models skip levels. Their
 * size shows the rank.
 */
function heading({ depth, tokens }: Tokens.Heading): VNode {
  return (
    <h3 dir="auto" class={depth <= 2 ? "large" : ""}>
      {inlines(tokens)}
    </h3>
  );
}

function list({ ordered, start, items }: Tokens.List): VNode {
  const children = items.map((item, at) => (
    <li key={at}>
      {item.task && <input type="checkbox" checked={item.checked === true} disabled aria-label="task" />}
      {item.tokens.filter(({ type }) => type !== "checkbox").map((token) => block(token))}
    </li>
  ));
  return ordered ? (
    <ol dir="auto" start={Number(start) || 1}>
      {children}
    </ol>
  ) : (
    <ul dir="auto">{children}</ul>
  );
}

function table({ header, rows, align }: Tokens.Table): VNode {
  const side = (at: number) => `align-${align[at] ?? "left"}`;
  return (
    <div class="table-scroll" tabIndex={0} role="group" aria-label="Table">
      <table dir="auto">
        <thead>
          <tr>
            {header.map((cell, at) => {
              // A table cell without text must not be a header for screen readers.
              const Cell = cell.text === "" ? "td" : "th";
              return (
                <Cell key={at} class={side(at)}>
                  {inlines(cell.tokens)}
                </Cell>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, number) => (
            <tr key={number}>
              {row.map((cell, at) => (
                <td key={at} class={side(at)}>
                  {inlines(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(token: Token): ComponentChildren {
  switch (token.type) {
    case "strong":
      return <strong>{inlines(token.tokens)}</strong>;
    case "em":
      return <em>{inlines(token.tokens)}</em>;
    case "del":
      return <del>{inlines(token.tokens)}</del>;
    case "codespan":
      return <code>{(token as Tokens.Codespan).text}</code>;
    case "br":
      return <br />;
    case "link":
      return link(token as Tokens.Link);
    case "image": {
      // The picture is not loaded, because that would inform its server that the message was read.
      const { href, text } = token as Tokens.Image;
      return <Link href={href}>{text || href}</Link>;
    }
    case "html":
      return token.raw;
    case "escape":
      return (token as Tokens.Escape).text;
    case "text": {
      const { tokens, text } = token as Tokens.Text;
      return tokens === undefined ? decodeEntities(text) : inlines(tokens);
    }
    default:
      return token.raw;
  }
}

function link({ href, tokens }: Tokens.Link): VNode {
  return <Link href={href}>{inlines(tokens)}</Link>;
}

function Link({ href, children }: { href: string; children: ComponentChildren }) {
  const safe = safeLink(href);
  if (safe === undefined) return <span title={href}>{children}</span>;
  return (
    <a href={safe} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  );
}
