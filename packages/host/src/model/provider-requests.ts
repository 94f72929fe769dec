import type { HttpAnswer, Platform } from "../platform/platform.ts";
import { BOBBIN_VERSION } from "../version.ts";
import { limitFault } from "./answer-limit-fault.ts";
import { wireLimits } from "./answer-limits.ts";
import {
  complaintFault,
  disconnected,
  ModelFault,
  missingKey,
  readComplaint,
  reason,
  statusFault,
  unreachable,
  unsendable,
} from "./faults.ts";
import type { Loose } from "./loose-json.ts";
import { credentialFor } from "./provider-credential.ts";
import type { Environment, ProviderSettings } from "./provider-settings.ts";
import { SseReader } from "./sse-reader.ts";
import type { ProviderCredential, StoredKeys } from "./stored-keys.ts";

/** What the model adapters need from the host. */
export interface ModelPorts {
  readonly platform: Pick<Platform, "http" | "timers" | "clock" | "ids">;
  readonly env: Environment;
  readonly settings: ProviderSettings;
  /** Undefined if no keys are stored. */
  readonly keys?: StoredKeys | undefined;
}

/** One streaming request to a provider. */
export interface Call {
  readonly path: string;
  readonly model: string;
  readonly body: object;
  /** Limit on the bytes of the answer's text. It is enforced only roughly. */
  readonly answerBytes: number;
  /** Called with the response headers, whatever the status is. */
  readonly onHeaders?: (headers: HttpAnswer["headers"]) => void;
}

/** Represents the `[DONE]` event, which ends a stream in some APIs. */
export const DONE: Loose = {};
/**
 * Limit on the time for reading the rest of a stream after its last event. The rest is read so that the connection can
 * be reused.
 */
const REST_MS = 250;
/** Limit on the bytes of that rest. */
const REST_BYTES = 256 * 1024;
/** Limit on the bytes of an error response's body. */
const COMPLAINT_BYTES = 64 * 1024;
/** Limit on the bytes of a response that is not a stream, such as a list of models. */
const REPLY_BYTES = 4 * 1024 * 1024;

/**
 * Sends a POST request and yields the events of its response as JSON, batched as they arrive. Ends with the response,
 * or with the event `[DONE]`, which is yielded, too. Failures throw a ModelFault; an abort throws the signal's reason.
 */
export async function* postStream(
  ports: ModelPorts,
  call: Call,
  signal: AbortSignal,
): AsyncIterable<readonly Loose[]> {
  const { settings, platform } = ports;
  const stop = new AbortController();
  const idle = new IdleTimeout(ports, () => stop.abort());
  const aborted = () => stop.abort(signal.reason);
  const explain = (cause: unknown, fault: (cause: unknown) => ModelFault): unknown => {
    if (signal.aborted) return signal.reason;
    if (cause instanceof ModelFault) return cause;
    return idle.expired ? silenceFault(settings) : fault(cause);
  };
  signal.throwIfAborted();
  signal.addEventListener("abort", aborted, { once: true });
  let body: AsyncIterator<Uint8Array> | undefined;
  let isComplete = false;
  try {
    idle.renew();
    const response = await request(ports, call, stop.signal).catch((cause) => {
      throw explain(cause, (why) => unreachable(settings, shownUrl(settings, call.path), why));
    });
    idle.renew();
    call.onHeaders?.(response.headers);
    body = await streamOf(ports, call, response).catch((cause) => {
      throw explain(cause, (why) => disconnected(settings, reason(why)));
    });
    const limits = wireLimits(call.answerBytes);
    const tooLarge = (): ModelFault => limitFault("answerBytes", call.answerBytes);
    const sse = new SseReader(limits.event, tooLarge);
    let bytes = 0;
    while (!isComplete) {
      const chunk = await body.next();
      idle.renew();
      isComplete = chunk.done === true;
      bytes += chunk.value?.length ?? 0;
      if (bytes > limits.stream) throw tooLarge();
      const { events, broken } = readEvents(chunk.done ? sse.end() : sse.push(chunk.value));
      if (events.length > 0) yield events;
      if (events.at(-1) === DONE) return;
      // If the stream ends within an event, the missing final event is reported instead.
      if (broken && !isComplete) throw disconnected(settings, "it sent an event that is not valid JSON");
    }
  } catch (cause) {
    throw explain(cause, (why) => disconnected(settings, reason(why)));
  } finally {
    idle.end();
    signal.removeEventListener("abort", aborted);
    if (body === undefined || signal.aborted) stop.abort();
    else if (!isComplete) readRest(body, platform, stop).catch(() => {});
  }
}

/** Parses events up to `[DONE]` or to the first that is not valid JSON. */
function readEvents(texts: readonly string[]): {
  readonly events: readonly Loose[];
  readonly broken: boolean;
} {
  const events: Loose[] = [];
  for (const text of texts) {
    const event = text === "[DONE]" ? DONE : parse(text);
    if (event === undefined) return { events, broken: true };
    events.push(event);
    if (event === DONE) break;
  }
  return { events, broken: false };
}

/** The URL of a request for error messages: without query and credentials. */
export function shownUrl(settings: ProviderSettings, path: string): string {
  const url = urlFor(settings, path);
  return `${url.origin}${url.pathname}`;
}

/** Sends a GET request and parses its JSON response. */
export async function getJson(ports: ModelPorts, path: string, signal: AbortSignal): Promise<unknown> {
  const response = await get(ports, path, signal);
  if (!isOk(response)) {
    throw statusFault(ports.settings, "", errorAnswer(ports, path, response, await readText(response)));
  }
  return JSON.parse(await readText(response, REPLY_BYTES));
}

/** Throws unless the server answers and accepts the key. The content of the response is ignored. */
export async function probe(ports: ModelPorts, path: string, signal: AbortSignal): Promise<void> {
  const response = await get(ports, path, signal);
  const body = await readText(response);
  if (response.status === 401 || response.status === 403 || response.status >= 500) {
    throw statusFault(ports.settings, "", errorAnswer(ports, path, response, body));
  }
}

async function get(ports: ModelPorts, path: string, signal: AbortSignal): Promise<HttpAnswer> {
  const { settings, platform } = ports;
  return withCredential(ports, async (credential) => {
    const headers = headersOf(ports, credential);
    return platform.http(urlFor(settings, path, credential), { headers, signal }).catch((cause) => {
      throw unreachable(settings, shownUrl(settings, path), cause);
    });
  });
}

async function request(ports: ModelPorts, { path, body }: Call, signal: AbortSignal): Promise<HttpAnswer> {
  const text = JSON.stringify(body);
  return withCredential(ports, (credential) =>
    ports.platform.http(urlFor(ports.settings, path, credential), {
      method: "POST",
      headers: {
        ...headersOf(ports, credential),
        "content-type": "application/json",
        accept: "text/event-stream",
      },
      body: text,
      signal,
    }),
  );
}

/** Sends a request. If the stored credential is refused and another one is available, sends it again. */
async function withCredential(
  ports: ModelPorts,
  send: (credential: ProviderCredential | undefined) => Promise<HttpAnswer>,
): Promise<HttpAnswer> {
  const found = await credentialFor(ports);
  const response = await send(found?.credential);
  if (response.status !== 401 || found?.isStored !== true) return response;
  const next = await ports.keys!.refused(ports.settings, found.credential);
  if (next === undefined) return response;
  // The body of the refused response is read, so that its connection can be reused.
  await readText(response);
  return send(next);
}

async function streamOf(
  ports: ModelPorts,
  { path, model }: Call,
  response: HttpAnswer,
): Promise<AsyncIterator<Uint8Array>> {
  const { settings } = ports;
  if (!isOk(response)) {
    throw statusFault(settings, model, errorAnswer(ports, path, response, await readText(response)));
  }
  const type = response.headers.get("content-type") ?? "text/event-stream";
  if (!/^text\/event-stream\b/i.test(type) || response.body === null) {
    const text = await readText(response);
    if (/json/.test(type) && /"error"/.test(text)) throw complaintFault(settings, model, readComplaint(text));
    throw new ModelFault(
      `${shownUrl(settings, path)} answered with ${type} instead of a stream of events. Check base_url and wire_api of ${settings.id} in config.toml.`,
      { responseStreamConnectionFailed: { httpStatusCode: response.status } },
    );
  }
  return response.body[Symbol.asyncIterator]();
}

function isOk({ status }: HttpAnswer): boolean {
  return status >= 200 && status < 300;
}

function errorAnswer({ settings, platform }: ModelPorts, path: string, response: HttpAnswer, text: string) {
  return {
    status: response.status,
    url: shownUrl(settings, path),
    retryAfterMs: retryAfter(response.headers, platform.clock.now()),
    complaint: readComplaint(text),
  };
}

async function readText({ body }: HttpAnswer, atMost = COMPLAINT_BYTES): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length >= atMost) break;
  }
  return text;
}

const urlCache = new WeakMap<ProviderSettings, Map<string, URL>>();

function urlFor(settings: ProviderSettings, path: string, credential?: ProviderCredential): URL {
  if (credential?.baseUrl !== undefined) return buildUrl({ ...settings, baseUrl: credential.baseUrl }, path);
  const known = urlCache.get(settings) ?? new Map<string, URL>();
  urlCache.set(settings, known);
  const url = known.get(path) ?? buildUrl(settings, path);
  known.set(path, url);
  return url;
}

function buildUrl({ baseUrl, query }: ProviderSettings, path: string): URL {
  const url = new URL(baseUrl);
  url.pathname = url.pathname.replace(/\/+$/, "") + path;
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}

function headersOf(
  { settings, env }: ModelPorts,
  credential: ProviderCredential | undefined,
): Record<string, string> {
  const headers: Record<string, string> = { "user-agent": `bobbin/${BOBBIN_VERSION}` };
  const key = credential?.token;
  if (settings.wire === "messages") headers["anthropic-version"] = "2023-06-01";
  if (key) {
    if (settings.wire === "messages") headers["x-api-key"] = key;
    else headers.authorization = `Bearer ${key}`;
  } else if (settings.envKey !== null) throw missingKey(settings);
  for (const [name, variable] of Object.entries(settings.envHeaders)) {
    const value = env[variable]?.trim();
    if (value) headers[name.toLowerCase()] = value;
  }
  for (const [name, value] of Object.entries({ ...credential?.headers, ...settings.headers }))
    headers[name.toLowerCase()] = value;
  for (const [name, value] of Object.entries(headers))
    if (UNSENDABLE.test(value)) throw unsendable(settings, name);
  return headers;
}

/** Characters that no header may contain, such as the ellipsis of a key that was copied incompletely. */
const UNSENDABLE = /[^\t\x20-\x7e\x80-\xff]/;

/** Reads `Retry-After` (seconds or a date), and `retry-after-ms`, which some servers send. */
function retryAfter(headers: HttpAnswer["headers"], now: number): number | undefined {
  const ms = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (ms >= 0) return ms;
  const after = headers.get("retry-after");
  if (after === null) return undefined;
  if (/^\d+(\.\d+)?$/.test(after.trim())) return Math.ceil(Number(after) * 1000);
  // oxlint-disable-next-line no-restricted-globals -- it reads a text, not the clock
  const wait = Date.parse(after) - now;
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

function parse(data: string): Loose | undefined {
  try {
    const json: unknown = JSON.parse(data);
    return typeof json === "object" && json !== null ? (json as Loose) : undefined;
  } catch {
    return undefined;
  }
}

function silenceFault(settings: ProviderSettings): ModelFault {
  const seconds = settings.streamIdleTimeoutMs / 1000;
  return disconnected(settings, `no data for ${seconds} s (stream_idle_timeout_ms)`);
}

async function readRest(
  body: AsyncIterator<Uint8Array>,
  { timers }: Pick<Platform, "timers">,
  stop: AbortController,
): Promise<void> {
  const cancel = timers.after(REST_MS, () => stop.abort());
  let bytes = 0;
  try {
    for (let rest = await body.next(); !rest.done; rest = await body.next()) {
      bytes += rest.value.length;
      if (bytes > REST_BYTES) return stop.abort();
    }
  } finally {
    cancel();
  }
}

/** Times out if the server sends nothing for too long. */
class IdleTimeout {
  readonly #ports: ModelPorts;
  readonly #over: () => void;
  #cancel: () => void = () => {};
  expired = false;

  constructor(ports: ModelPorts, over: () => void) {
    this.#ports = ports;
    this.#over = over;
  }

  renew(): void {
    this.#cancel();
    this.#cancel = this.#ports.platform.timers.after(this.#ports.settings.streamIdleTimeoutMs, () => {
      this.expired = true;
      this.#over();
    });
  }

  end(): void {
    this.#cancel();
  }
}
