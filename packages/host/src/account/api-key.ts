/** Limit on the length of an API key. */
const LONGEST = 8192;

/** Returns why a text cannot be an API key, in words that complete a sentence; undefined if it can. */
export function keyProblem(key: string): string | undefined {
  if (key === "") return "it is empty";
  if (key.length > LONGEST) return `it has more than ${LONGEST} characters`;
  return /^[\x21-\x7e]+$/.test(key) ? undefined : "it has a space or a character that cannot be sent";
}

const VERSION = 1;

/** Serializes an API key for the credential store. */
export function writeKey(apiKey: string): string {
  return JSON.stringify({ version: VERSION, kind: "apiKey", apiKey });
}

/** Returns undefined if the text is not an API key of this version. */
export function readKey(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    const read = JSON.parse(text) as Record<string, unknown> | null;
    if (read?.["version"] !== VERSION || read["kind"] !== "apiKey") return undefined;
    const { apiKey } = read;
    return typeof apiKey === "string" && keyProblem(apiKey) === undefined ? apiKey : undefined;
  } catch {
    return undefined;
  }
}
