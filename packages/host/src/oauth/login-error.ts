/**
 * Why a login or a refresh failed. The message is for people and contains no secret: of a server's reply only the
 * error code and description, never a body, and no URL with a query.
 */
export class LoginError extends Error {
  override readonly name = "LoginError";
  readonly kind: LoginErrorKind;

  constructor(kind: LoginErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/**
 * `unsupported`: the server has no OAuth. `unreachable`: no reply, or an unreadable one; a retry may help. `refused`:
 * the authorization server refused. `denied`: the user refused. `timedOut`: the browser did not return in time.
 * `cancelled`: the login was cancelled. `misconfigured`: the configuration must be changed first.
 */
export type LoginErrorKind =
  | "unsupported"
  | "unreachable"
  | "refused"
  | "denied"
  | "timedOut"
  | "cancelled"
  | "misconfigured";

const MAX_LENGTH = 300;

/** A server's text for use in a sentence: one line, limited in length, without secrets and control characters. */
export function saidBy(text: string, secrets: readonly (string | null)[] = []): string {
  const plain = secrets.reduce<string>(
    (redacted, secret) => (secret === null || secret === "" ? redacted : redacted.replaceAll(secret, "…")),
    text,
  );
  const line = plain
    .replace(/\p{C}+/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH)}…` : line;
}
