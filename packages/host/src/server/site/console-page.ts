import { escapeHtml } from "./escape-html.ts";
import type { StaticFile, StaticFilesByPath } from "./static-files.ts";

/** Facts that the page gets in its HTML. */
export interface ConsoleFacts {
  /** The URL for clients, as the reader would write it. */
  readonly url: string;
  readonly needsToken: boolean;
  readonly version?: string;
}

/** The HTML of the console, with the facts in its `<meta>` elements; undefined if the console is not built. */
export function renderConsole(files: StaticFilesByPath, facts: ConsoleFacts): string | undefined {
  const page = files.get("/index.html");
  const values: Readonly<Record<string, string>> = {
    ADDRESS: facts.url,
    AUTH: facts.needsToken ? "token" : "none",
    VERSION: facts.version ?? "",
  };
  return page?.body
    .toString()
    .replace(/%BOBBIN_(ADDRESS|AUTH|VERSION)%/g, (_, name: string) => escapeHtml(values[name]!));
}

/** A script, style or picture of the console: everything under `/assets/`, where names contain a hash of the content. */
export function findAsset(files: StaticFilesByPath, path: string): StaticFile | undefined {
  return path.startsWith("/assets/") ? files.get(path) : undefined;
}

/** Assets never change, because their names contain a hash of the content. */
export const ASSET_HEADERS = { "Cache-Control": "public, max-age=31536000, immutable" };

/**
 * Scripts and styles come from this listener only, none of them inline, and no script can turn text into HTML
 * (trusted types). Pictures may be data URLs, because messages contain such pictures. No picture is loaded from
 * another server.
 */
export const CONSOLE_HEADERS = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; " +
    "trusted-types 'none'",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
};
