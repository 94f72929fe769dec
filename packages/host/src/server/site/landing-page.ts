import { createHash } from "node:crypto";
import { escapeHtml } from "./escape-html.ts";
import { javascript, nextLines, shell } from "./landing-page-examples.ts";

export interface PageFacts {
  /** The URL for clients, as the reader would write it. */
  readonly url: string;
  readonly needsToken: boolean;
  /** The number of rows of `/status`; zero if it is not shown. */
  readonly statusRows: number;
  readonly version?: string;
}

export type StatusRow = readonly [label: string, value: string];

/** The HTML page that a browser shows at the listener's address. It loads nothing and runs no script. */
export function renderPage({ url, needsToken, statusRows, version }: PageFacts): string {
  const token = needsToken
    ? "<p class=note>This listener wants a bearer token. Put yours where the examples say <code>TOKEN</code>.</p>"
    : "";
  const status =
    statusRows > 0
      ? `<section><h2>Right now</h2><iframe src="/status" title="Status" height="${statusRows * ROW_PX + 2}"></iframe></section>`
      : "";
  return page(
    "Bobbin",
    `<header>${LOGO}<div><h1>Bobbin${version ? ` <small>${escapeHtml(version)}</small>` : ""}</h1>
<p>A host for agent threads. It is running, and programs connect to it here: an IDE, a bot or a script connects
with a WebSocket and speaks the app-server protocol, one JSON message a text frame.</p></div></header>
<section><h2>Address</h2><pre class=address>${escapeHtml(url)}</pre>${token}</section>
${status}
<section><h2>From a terminal</h2><pre>${escapeHtml(shell(url, needsToken))}</pre>
<p>Then type, a line at a time (the thread id is in the second reply):</p><pre>${escapeHtml(nextLines)}</pre></section>
<section><h2>From JavaScript</h2><p>Node 22 or newer, as a <code>.mjs</code> file; a click selects all of it.</p>
<pre>${escapeHtml(javascript(url, needsToken))}</pre></section>
<footer><a href="/readyz">readyz</a> <a href="/healthz">healthz</a>${needsToken ? "" : ' <a href="/metrics">metrics</a>'}</footer>`,
  );
}

/** The changing part of the page, in a frame that the browser reloads at intervals. */
export function renderStatus(rows: readonly StatusRow[]): string {
  const cells = rows.map(
    ([label, value]) => `<tr><th>${escapeHtml(label)}</th><td>${escapeHtml(value)}</td></tr>`,
  );
  return page(
    "Status",
    `<table>${cells.join("\n")}</table>`,
    `<meta http-equiv=refresh content=${REFRESH_SECONDS}>`,
  );
}

/** The HTTP headers of the page. `framedBy`: which pages may embed the page in a frame. */
export function pageHeaders(framedBy: "none" | "self"): Record<string, string> {
  return {
    "Content-Security-Policy":
      `default-src 'none'; style-src '${styleHash()}'; frame-src 'self'; frame-ancestors '${framedBy}'; ` +
      "base-uri 'none'; form-action 'none'",
    "Referrer-Policy": "no-referrer",
  };
}

const ROW_PX = 34;
const REFRESH_SECONDS = 3;

function page(title: string, body: string, head = ""): string {
  return `<!doctype html>
<html lang=en><head><meta charset=utf-8><title>${title}</title>
<meta name=viewport content="width=device-width, initial-scale=1"><meta name=color-scheme content="light dark">${head}
<style>${STYLE}</style></head><body class=${title.toLowerCase()}><main>
${body}
</main></body></html>
`;
}

let hash: string | undefined;
function styleHash(): string {
  hash ??= `sha256-${createHash("sha256").update(STYLE).digest("base64")}`;
  return hash;
}

const LOGO = `<svg viewBox="0 0 48 48" width="56" height="56" role="img" aria-label="a bobbin">
<g fill="none" stroke-linecap="round" stroke-width="3"><path class=wood d="M10 6h28M10 42h28M24 2v4M24 42v4"/>
<path class=thread d="M14 12h20M14 18h20M14 24h20M14 30h20M14 36h20c6 0 8-3 8-6"/></g></svg>`;

const STYLE = `
:root { color-scheme: light dark; --ink: #22252b; --dim: #666c78; --paper: #fbfaf7; --card: #f1eee7;
  --line: #e0dbd0; --thread: #c2542d; --wood: #8a6d4b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e6e1; --dim: #9a9fab; --paper: #17181c; --card: #202228;
  --line: #31343c; --thread: #f08a5d; --wood: #c9a77c; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
.bobbin main { max-width: 54rem; margin: 0 auto; padding: 3.5rem 1.25rem 3rem; }
header { display: flex; gap: 1.25rem; align-items: flex-start; }
svg { flex: none; margin-top: .35rem; }
.wood { stroke: var(--wood); } .thread { stroke: var(--thread); }
h1 { margin: 0; font-size: 2rem; line-height: 1.2; letter-spacing: -.02em; }
h1 small { font-size: .9rem; font-weight: 400; color: var(--dim); letter-spacing: 0; }
header p { margin: .4rem 0 0; color: var(--dim); }
section { margin-top: 2.25rem; }
h2 { margin: 0 0 .6rem; font-size: .8rem; text-transform: uppercase; letter-spacing: .08em; color: var(--dim); }
p { margin: .6rem 0; }
code, pre { font: .875rem/1.6 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { margin: 0; padding: .9rem 1rem; overflow-x: auto; background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; user-select: all; -webkit-user-select: all; cursor: copy; }
@media (max-width: 40rem) { pre { white-space: pre-wrap; overflow-wrap: anywhere; } }
pre.address { font-size: 1.15rem; color: var(--thread); font-weight: 600; }
.note { padding-left: .8rem; border-left: 3px solid var(--thread); color: var(--dim); }
iframe { display: block; width: 100%; border: 1px solid var(--line); border-radius: 8px; }
.status { background: var(--card); }
table { width: 100%; border-collapse: collapse; font-size: .9375rem; }
tr { height: 34px; } tr + tr { border-top: 1px solid var(--line); }
th { padding: 0 1rem; text-align: left; font-weight: 400; color: var(--dim); }
td { padding: 0 1rem; text-align: right; font-variant-numeric: tabular-nums; }
footer { margin-top: 2.5rem; padding-top: 1rem; border-top: 1px solid var(--line); font-size: .875rem; }
a { color: var(--dim); margin-right: 1rem; } a:hover { color: var(--thread); }
`;
