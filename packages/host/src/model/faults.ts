import type { CodexErrorInfo, TurnError } from "@bobbin/protocol";
import type { ErrorCode } from "../errors.ts";
import type { ModelEvent, Retry } from "./model.ts";
import type { ProviderSettings } from "./provider-settings.ts";

/** An error of a model call: how the turn reports it, and whether a retry can help. */
export class ModelFault extends Error {
  readonly info: CodexErrorInfo;
  readonly retry: Retry | undefined;
  /** A code of the error catalogue, for errors that clients may want to handle. */
  readonly code: ErrorCode | undefined;

  constructor(message: string, info: CodexErrorInfo, retry?: Retry, code?: ErrorCode) {
    super(message);
    this.info = info;
    this.retry = retry;
    this.code = code;
  }

  toEvent(): ModelEvent {
    const error: TurnError = {
      message: this.message,
      codexErrorInfo: this.info,
      additionalDetails: null,
      misalignment: null,
      ...(this.code !== undefined && { code: this.code }),
    };
    return { type: "failed", error, retry: this.retry };
  }
}

/** If a server demands a longer wait than this, the call is not retried, and the user decides. */
const MAX_RETRY_WAIT_MS = 120_000;
const CONTEXT_WORDS =
  /context[_ ](length|window)|maximum context|prompt is too long|too many tokens|exceeds? the (available )?context/i;
const MODEL_WORDS = /model/i;
const QUOTA_WORDS = /insufficient_quota|billing|credit balance|usage_limit_reached|usage_not_included/i;
const RATE_CODES = /rate_limit|slow_down/;

/** Policy errors, for which a retry cannot help. */
const POLICIES: { readonly [code: string]: CodexErrorInfo } = {
  misalignment_policy_violation: "misalignmentPolicyViolation",
  cyber_policy: "cyberPolicy",
};

/** A server's error message, extracted from any of the usual JSON shapes. */
export interface Complaint {
  readonly code: string;
  readonly message: string;
}

/** Parses the body of an error response. */
export function readComplaint(body: string): Complaint {
  try {
    const json: unknown = JSON.parse(body);
    const error = (json as { error?: unknown }).error ?? (json as { detail?: unknown }).detail ?? json;
    if (typeof error === "string") return { code: "", message: error };
    const { code, type, message } = error as { code?: unknown; type?: unknown; message?: unknown };
    return { code: String(code ?? type ?? ""), message: typeof message === "string" ? message : short(body) };
  } catch {
    return { code: "", message: short(body) };
  }
}

/** The fault for an error event in a stream that had begun successfully. */
export function complaintFault(settings: ProviderSettings, model: string, complaint: Complaint): ModelFault {
  const { code, message } = complaint;
  const detail = message === "" ? code : message;
  if (CONTEXT_WORDS.test(code) || CONTEXT_WORDS.test(message))
    return contextExceeded(settings, model, detail);
  if (QUOTA_WORDS.test(code)) return new ModelFault(quota(settings, detail), "usageLimitExceeded");
  if (Object.hasOwn(POLICIES, code)) return new ModelFault(refused(settings, detail), POLICIES[code]!);
  const retry = { of: settings.streamMaxRetries, afterMs: namedDelay(message) };
  if (RATE_CODES.test(code)) {
    return new ModelFault(tooFast(settings, detail), "rateLimitExceeded", retry);
  }
  if (/overloaded|server_is_overloaded/.test(code)) {
    return new ModelFault(
      `${settings.name} is overloaded at the moment: ${detail}`,
      "serverOverloaded",
      retry,
    );
  }
  if (/invalid_request|invalid_prompt|bio_policy|content_filter/.test(code)) {
    return new ModelFault(refused(settings, detail), "badRequest");
  }
  return disconnected(settings, `it reported an error: ${detail}`);
}

/** An HTTP response with an error status. */
export interface Answer {
  readonly status: number;
  readonly url: string;
  readonly retryAfterMs: number | undefined;
  readonly complaint: Complaint;
}

/** The fault for a response with an error status. */
export function statusFault(settings: ProviderSettings, model: string, answer: Answer): ModelFault {
  const { status, url, complaint } = answer;
  const { code, message } = complaint;
  const detail = message === "" ? "" : `: ${message}`;
  const http = { httpConnectionFailed: { httpStatusCode: status } };
  if (status === 413 || CONTEXT_WORDS.test(code) || (status < 500 && CONTEXT_WORDS.test(message))) {
    return contextExceeded(settings, model, message);
  }
  if (status < 500 && Object.hasOwn(POLICIES, code)) {
    return new ModelFault(refused(settings, message), POLICIES[code]!);
  }
  if (status === 401 || status === 403) {
    return new ModelFault(
      `${settings.name} did not accept the key (HTTP ${status} from ${url})${detail}. ${keyAdvice(settings)}`,
      settings.requiresOpenaiAuth ? "unauthorized" : http,
    );
  }
  if (status === 404) {
    return MODEL_WORDS.test(`${code} ${message}`)
      ? new ModelFault(
          `${settings.name} has no model ${model} (HTTP 404 from ${url})${detail}. Set \`model\` in config.toml to one that it has${settings.local ? ", or fetch it there first" : ""}.`,
          "modelNotFound",
        )
      : new ModelFault(
          `Nothing answers at ${url} (HTTP 404)${detail}. Check base_url and wire_api of ${settings.id} in config.toml.`,
          http,
        );
  }
  if (status === 429) return tooMany(settings, answer, detail);
  if (status >= 500 || status === 408 || status === 409 || status === 425) {
    const retry = retryOf(settings.requestMaxRetries, answer.retryAfterMs);
    if (RATE_CODES.test(code)) {
      return new ModelFault(tooFast(settings, message), "rateLimitExceeded", retry);
    }
    const info = status === 503 || status === 529 ? "serverOverloaded" : "internalServerError";
    return new ModelFault(
      `${settings.name} has trouble at the moment (HTTP ${status} from ${url})${detail}. Try again later.`,
      info,
      retry,
    );
  }
  return new ModelFault(
    `${settings.name} refused the request (HTTP ${status} from ${url})${detail}`,
    "badRequest",
  );
}

function tooMany(
  settings: ProviderSettings,
  { url, retryAfterMs, complaint }: Answer,
  detail: string,
): ModelFault {
  if (QUOTA_WORDS.test(`${complaint.code} ${complaint.message}`)) {
    return new ModelFault(quota(settings, complaint.message), "usageLimitExceeded");
  }
  const wait = retryAfterMs === undefined ? "a while" : `${Math.ceil(retryAfterMs / 1000)} s`;
  return new ModelFault(
    `${settings.name} answered 429 Too Many Requests at ${url}${detail}. Try again in ${wait}.`,
    { responseTooManyFailedAttempts: { httpStatusCode: 429 } },
    retryOf(settings.requestMaxRetries, retryAfterMs),
  );
}

/** The fault for a server that cannot be reached. */
export function unreachable(settings: ProviderSettings, url: string, cause: unknown): ModelFault {
  const advice = settings.local
    ? `Is ${settings.name} running there?`
    : `Check the network, and base_url of ${settings.id} in config.toml.`;
  return new ModelFault(
    `${settings.name} cannot be reached at ${url}: ${reason(cause)}. ${advice}`,
    { httpConnectionFailed: { httpStatusCode: null } },
    { of: settings.requestMaxRetries },
  );
}

/** The fault for a stream that ended too early. */
export function disconnected(settings: ProviderSettings, why: string): ModelFault {
  return new ModelFault(
    `The answer of ${settings.name} was interrupted: ${why}.`,
    { responseStreamDisconnected: { httpStatusCode: null } },
    { of: settings.streamMaxRetries },
  );
}

/** The fault for an answer that the server ended before the model was done. */
export function cutShort(provider: string, why: string): ModelFault {
  const reason = /length|max_(output_)?tokens/.test(why)
    ? "it reached the model's output limit"
    : `it was stopped (${why})`;
  return new ModelFault(`The answer of ${provider} is incomplete: ${reason}.`, "other");
}

/** The fault for a provider whose key is not set. */
export function missingKey(settings: ProviderSettings): ModelFault {
  return new ModelFault(
    `${settings.name} needs a key, and none is set. ${keyAdvice(settings)}`,
    settings.requiresOpenaiAuth ? "unauthorized" : { httpConnectionFailed: { httpStatusCode: null } },
  );
}

/** The fault for a header (the key, or one of the configuration) with a character that HTTP does not allow. */
export function unsendable(settings: ProviderSettings, header: string): ModelFault {
  const isKey = header === "authorization" || header === "x-api-key";
  const advice = isKey ? keyAdvice(settings) : `Correct http_headers of ${settings.id} in config.toml.`;
  return new ModelFault(
    `${isKey ? `The key for ${settings.name}` : `The header ${header} for ${settings.name}`} has a character that cannot be sent. ${advice}`,
    isKey && settings.requiresOpenaiAuth
      ? "unauthorized"
      : { httpConnectionFailed: { httpStatusCode: null } },
  );
}

function contextExceeded(settings: ProviderSettings, model: string, detail: string): ModelFault {
  return new ModelFault(
    `The conversation is too long for ${model} (${settings.name}): ${detail} Compact the thread, start a new one, or choose a model with a larger context window.`,
    "contextWindowExceeded",
  );
}

function refused(settings: ProviderSettings, detail: string): string {
  return `${settings.name} refused the request: ${detail}`;
}

function tooFast(settings: ProviderSettings, detail: string): string {
  return `${settings.name} limits the rate of requests: ${detail}`;
}

function quota(settings: ProviderSettings, detail: string): string {
  return `The account at ${settings.name} has reached its limit: ${detail} Check its plan and billing.`;
}

function keyAdvice({ envKey, envKeyInstructions, id }: ProviderSettings): string {
  if (envKeyInstructions !== null) return envKeyInstructions;
  const login = `bobbin login --with-api-key${id === "openai" ? "" : ` --provider ${id}`}`;
  if (envKey === null)
    return `Check http_headers or env_key of ${id} in config.toml, or store a key: ${login}.`;
  return `Set the environment variable ${envKey} to a valid key and start again, or store a key: ${login}.`;
}

function retryOf(of: number, afterMs: number | undefined): Retry | undefined {
  return afterMs !== undefined && afterMs > MAX_RETRY_WAIT_MS ? undefined : { of, afterMs };
}

/** Reads the delay that some providers put into the text of the error. */
function namedDelay(message: string): number | undefined {
  const found = /try again in\s*(\d+(?:\.\d+)?)\s*(ms|s|seconds?)\b/i.exec(message);
  if (found === null) return undefined;
  return Math.ceil(Number(found[1]) * (found[2] === "ms" ? 1 : 1000));
}

/** The innermost cause of an error, which Node hides behind "fetch failed". */
export function reason(cause: unknown): string {
  let error = cause;
  while (error instanceof Error && error.cause !== undefined) error = error.cause;
  if (error instanceof AggregateError) error = error.errors[0];
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { code?: string };
  const known: Record<string, string> = {
    ECONNREFUSED: "nothing listens there (connection refused)",
    ENOTFOUND: "there is no host of that name",
    ECONNRESET: "the connection was reset",
    UND_ERR_SOCKET: "the connection was closed",
  };
  return (code !== undefined && known[code]) || error.message || code || "unknown reason";
}

function short(body: string): string {
  const line = body.replace(/\s+/g, " ").trim();
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}
