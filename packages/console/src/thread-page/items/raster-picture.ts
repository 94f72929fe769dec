import { safePicture } from "../../markdown/safe-link.ts";

/** Limit on the bytes of a picture that is shown. */
export const MAX_SHOWN_BYTES = 8 * 1024 * 1024;

/** Characters of the data URL of a picture with the most bytes. */
const MAX_URL_LENGTH = Math.ceil(MAX_SHOWN_BYTES / 3) * 4 + "data:image/jpeg;base64,".length;

/** The URL of a picture that may be shown; undefined if it is too large, not in the URL itself, or of another type. */
export function shownPicture(url: string): string | undefined {
  return url.length <= MAX_URL_LENGTH ? safePicture(url) : undefined;
}
