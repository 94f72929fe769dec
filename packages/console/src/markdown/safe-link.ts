const ALLOWED = new Set(["http:", "https:", "mailto:"]);

/** The address of a link in a message; undefined if following it could do harm, as with `javascript:`. */
export function safeLink(href: string): string | undefined {
  const text = href.trim();
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  return ALLOWED.has(url.protocol) ? url.href : undefined;
}

const PICTURE = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,/;
/** Finds what is not base64. Unlike a match of the whole text, a search does not fill V8's stack for some megabytes. */
const NOT_BASE64 = /[^A-Za-z0-9+/=]/;

/** The address of a picture in a message. Only pictures that the message itself contains are allowed. */
export function safePicture(src: string): string | undefined {
  const prefix = PICTURE.exec(src)?.[0];
  if (prefix === undefined || src.length === prefix.length) return undefined;
  return NOT_BASE64.test(src.slice(prefix.length)) ? undefined : src;
}
