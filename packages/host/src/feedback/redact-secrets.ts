/** The replacement for a secret. */
const REDACTED = "[redacted]";

/** Shorter values may be ordinary words: redacting them would garble the text and hide nothing. */
const MIN_SECRET_LENGTH = 8;

/** Patterns of secrets from any source. Repetitions are bounded, so that no text takes long to match. */
const PATTERNS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,20}PRIVATE KEY-----|$)/g,
  // Keys of OpenAI, Anthropic, GitHub, GitLab, Slack, npm, Google, AWS, Stripe, Hugging Face.
  /\b(?:sk|rk|pk)[-_][A-Za-z0-9_-]{20,250}/g,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/g,
  /\bgithub_pat_[A-Za-z0-9_]{20,}/g,
  /\bglpat-[A-Za-z0-9_-]{16,}/g,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g,
  /\bnpm_[A-Za-z0-9]{20,}/g,
  /\bhf_[A-Za-z0-9]{20,}/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  // JSON Web Tokens.
  /\beyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{0,2000}/g,
];

/** Patterns whose first group, the label before the secret, is kept. */
const LABELLED_PATTERNS: readonly RegExp[] = [
  /(\b(?:bearer|basic)\s{1,4})[A-Za-z0-9._~+/=-]{8,8000}/gi,
  // user:password@ in an address.
  /(\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@"']{0,100}:)[^\s/@"']{1,200}(?=@)/gi,
  // The header Cookie, which has several values.
  /(\bcookie2?\s{0,4}:\s{0,4})[^\r\n"']{6,8000}/gi,
  // "password": "more than one word", and the same with escaped quotes, inside a JSON string.
  /((?:api[_-]?key|secret|token|passw(?:or)?d|passphrase|credentials?|authorization|cookie)[\w-]{0,20}\\?["']?\s{0,4}[:=]\s{0,4}\\?")(?!(?:bearer|basic)\b)(?:[^"\\\n]|\\[^"\n]){6,8000}/gi,
  /((?:api[_-]?key|secret|token|passw(?:or)?d|passphrase|credentials?|authorization|cookie)[\w-]{0,20}\\?["']?\s{0,4}[:=]\s{0,4}')(?!(?:bearer|basic)\b)[^'\n]{6,8000}/gi,
  // password=…, api_key: …, TOKEN=…
  /((?:api[_-]?key|secret|token|passw(?:or)?d|credentials?|authorization|cookie)[\w-]{0,20}\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?)(?!(?:bearer|basic)\b)[^\s"'\\,;}{[\]()]{6,8000}/gi,
];

/**
 * Creates a function that redacts secrets in a text: the values of `known`, whatever they look like, and everything
 * that matches the pattern of a secret.
 */
export function redactor(known: Iterable<string>): (text: string) => string {
  const values = [...new Set(known)].filter((value) => value.length >= MIN_SECRET_LENGTH);
  // Longer values first, because one may be a prefix of another. In JSON they appear with escapes.
  const forms = new Set(values.flatMap((value) => [value, JSON.stringify(value).slice(1, -1)]));
  const literal = [...forms].sort((one, other) => other.length - one.length).map(escaped);
  const exact = literal.length === 0 ? undefined : new RegExp(literal.join("|"), "g");
  return (text) => {
    let clean = exact === undefined ? text : text.replace(exact, REDACTED);
    for (const shape of PATTERNS) clean = clean.replace(shape, REDACTED);
    for (const shape of LABELLED_PATTERNS) clean = clean.replace(shape, `$1${REDACTED}`);
    return clean;
  };
}

/** Redacts the value of a named field: wholly if the name is that of a secret, else the secrets in it. */
export function redactValue(name: string, value: string, redact: (text: string) => string): string {
  return SECRET_NAME.test(name) ? REDACTED : redact(value);
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** Names of configuration keys and variables whose values are secrets. */
const SECRET_NAME = /key|secret|token|passw(or)?d|credential|authorization|cookie/i;

/** Configuration tables whose values are all treated as secrets. */
const SECRET_TABLE = /^(env|headers|http_headers|env_http_headers|query_params|set)$/;

/** The values of a configuration that may be secrets. */
export function* secretsIn(value: unknown, isSecret = false): Iterable<string> {
  if (typeof value === "string" && isSecret) yield value;
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    // The name of an environment variable is not a secret; its value is looked up in the environment.
    const names = /env_(key|var)s?|_env_var$/.test(name);
    const inTable = typeof inner === "object" && SECRET_TABLE.test(name);
    yield* secretsIn(inner, !names && (isSecret || inTable || SECRET_NAME.test(name)));
  }
}

/** The values of environment variables whose names look like secrets, or are in `named`. */
export function secretVariables(
  env: Readonly<Record<string, string | undefined>>,
  named: ReadonlySet<string>,
): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && (named.has(name) || SECRET_NAME.test(name)) ? [value] : [],
  );
}
