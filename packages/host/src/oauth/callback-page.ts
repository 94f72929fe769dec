import type { CallbackOutcome } from "./login-callbacks.ts";

/** The HTML page that the browser shows at the end of a login. */
export function callbackPage({ ok, says }: CallbackOutcome): string {
  const title = ok ? "Logged in" : "Not logged in";
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} · Bobbin</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
  body { max-width: 34rem; margin: 20vh auto 0; padding: 0 1.5rem }
  h1 { font-size: 1.5rem }
</style>
<h1>${title}</h1>
<p>${escaped(says)}</p>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
