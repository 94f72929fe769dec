import type { HttpAnswer, Platform } from "../platform/platform.ts";
import { BOBBIN_VERSION } from "../version.ts";
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
import { limitFault } from "./limit-fault.ts";
import type { Loose } from "./loose.ts";
import type { Environment, ProviderSettings } from "./provider-settings.ts";
import { SseReader } from "./sse.ts";

/** What adapters need from around them. */
export interface ModelPorts {
  readonly platform: Pick<Platform, "http" | "timers" | "clock" | "ids">;
  readonly env: Environment;
  readonly settings: ProviderSettings;
}

export interface Call {
  readonly path: string;
  readonly model: string;
  readonly body: object;
  /** The answer is not read past about so many bytes of text. */
  readonly answerBytes: number;
  /** Called with the answer's headers, whatever its status is. */
  readonly heard?: (headers: HttpAnswer["headers"]) => void;
}

/** The word by which some wires end. */
export const DONE: Loose = {};
/** The rest of a stream is read for so long behind its last word, so that its connection can be used again. */
const REST_MS = 250;
/** And no further than this. */
const REST_BYTES = 256 * 1024;
/** How much of an error's body is read. */
const COMPLAINT_BYTES = 64 * 1024;
/** How much is read of an answer that is no stream, such as a list of models. */
const REPLY_BYTES = 4 * 1024 * 1024;

/**
 * Posts, and yields the answer's events as JSON up to the end or `[DONE]`, which is yielded too: those that came together
 * in one piece. Whatever goes wrong is thrown as a ModelFault, but for an abort, which throws the signal's reason.
 */
export async function* postStream(
  ports: ModelPorts,
  call: Call,
  signal: AbortSignal,
): AsyncIterable<readonly Loose[]> {
  const { settings, platform } = ports;
  const stop = new AbortController();
  const patience = new Patience(ports, () => stop.abort());
  const aborted = () => stop.abort(signal.reason);
  const explain = (cause: unknown, fault: (cause: unknown) => ModelFault): unknown => {
    if (signal.aborted) return signal.reason;
    if (cause instanceof ModelFault) return cause;
    return patience.lost ? silence(settings) : fault(cause);
  };
  signal.throwIfAborted();
  signal.addEventListener("abort", aborted, { once: true });
  let body: AsyncIterator<Uint8Array> | undefined;
  let whole = false;
  try {
    patience.renew();
    const response = await request(ports, call, stop.signal).catch((cause) => {
      throw explain(cause, (why) => unreachable(settings, shownUrl(settings, call.path), why));
    });
    patience.renew();
    call.heard?.(response.headers);
    body = await streamOf(ports, call, response).catch((cause) => {
      throw explain(cause, (why) => disconnected(settings, reason(why)));
    });
    const limits = wireLimits(call.answerBytes);
    const tooLarge = (): ModelFault => limitFault("answerBytes", call.answerBytes);
    const sse = new SseReader(limits.event, tooLarge);
    let bytes = 0;
    while (!whole) {
      const chunk = await body.next();
      patience.renew();
      whole = chunk.done === true;
      bytes += chunk.value?.length ?? 0;
      if (bytes > limits.stream) throw tooLarge();
      const { events, broken } = readEvents(chunk.done ? sse.end() : sse.push(chunk.value));
      if (events.length > 0) yield events;
      if (events.at(-1) === DONE) return;
      // What stands at the very end without its line end was cut off; that is told by what is missing.
      if (broken && !whole) throw disconnected(settings, "it sent an event that is no JSON");
    }
  } catch (cause) {
    throw explain(cause, (why) => disconnected(settings, reason(why)));
  } finally {
    patience.end();
    signal.removeEventListener("abort", aborted);
    if (body === undefined || signal.aborted) stop.abort();
    else if (!whole) readRest(body, platform, stop).catch(() => {});
  }
}

/** As JSON, up to the word that ends them or to one that is broken. */
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

/** Where requests go, without what is secret. */
export function shownUrl(settings: ProviderSettings, path: string): string {
  const url = address(settings, path);
  return `${url.origin}${url.pathname}`;
}

/** Asks something that is answered at once. */
export async function getJson(ports: ModelPorts, path: string, signal: AbortSignal): Promise<unknown> {
  const response = await get(ports, path, signal);
  if (!isOk(response)) {
    throw statusFault(ports.settings, "", answer(ports, path, response, await start(response)));
  }
  return JSON.parse(await start(response, REPLY_BYTES));
}

/** Throws unless someone answers there and takes the key; what is answered does not matter. */
export async function probe(ports: ModelPorts, path: string, signal: AbortSignal): Promise<void> {
  const response = await get(ports, path, signal);
  const said = await start(response);
  if (response.status === 401 || response.status === 403 || response.status >= 500) {
    throw statusFault(ports.settings, "", answer(ports, path, response, said));
  }
}

async function get(ports: ModelPorts, path: string, signal: AbortSignal): Promise<HttpAnswer> {
  const { settings, platform } = ports;
  return platform.http(address(settings, path), { headers: headersOf(ports), signal }).catch((cause) => {
    throw unreachable(settings, shownUrl(settings, path), cause);
  });
}

async function request(ports: ModelPorts, { path, body }: Call, signal: AbortSignal): Promise<HttpAnswer> {
  return ports.platform.http(address(ports.settings, path), {
    method: "POST",
    headers: { ...headersOf(ports), "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify(body),
    signal,
  });
}

async function streamOf(
  ports: ModelPorts,
  { path, model }: Call,
  response: HttpAnswer,
): Promise<AsyncIterator<Uint8Array>> {
  const { settings } = ports;
  if (!isOk(response)) {
    throw statusFault(settings, model, answer(ports, path, response, await start(response)));
  }
  const type = response.headers.get("content-type") ?? "text/event-stream";
  if (!/^text\/event-stream\b/i.test(type) || response.body === null) {
    const text = await start(response);
    if (/json/.test(type) && /"error"/.test(text)) throw complaintFault(settings, model, readComplaint(text));
    throw new ModelFault(
      `${shownUrl(settings, path)} answered with ${type} in place of a stream of events. Look at base_url and wire_api of ${settings.id} in config.toml.`,
      { responseStreamConnectionFailed: { httpStatusCode: response.status } },
    );
  }
  return response.body[Symbol.asyncIterator]();
}

function isOk({ status }: HttpAnswer): boolean {
  return status >= 200 && status < 300;
}

function answer({ settings, platform }: ModelPorts, path: string, response: HttpAnswer, text: string) {
  return {
    status: response.status,
    url: shownUrl(settings, path),
    retryAfterMs: retryAfter(response.headers, platform.clock.now()),
    complaint: readComplaint(text),
  };
}

async function start({ body }: HttpAnswer, atMost = COMPLAINT_BYTES): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length >= atMost) break;
  }
  return text;
}

const addresses = new WeakMap<ProviderSettings, Map<string, URL>>();

function address(settings: ProviderSettings, path: string): URL {
  const known = addresses.get(settings) ?? new Map<string, URL>();
  addresses.set(settings, known);
  const url = known.get(path) ?? addressOf(settings, path);
  known.set(path, url);
  return url;
}

function addressOf({ baseUrl, query }: ProviderSettings, path: string): URL {
  const url = new URL(baseUrl);
  url.pathname = url.pathname.replace(/\/+$/, "") + path;
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}

function headersOf({ settings, env }: ModelPorts): Record<string, string> {
  const headers: Record<string, string> = { "user-agent": `bobbin/${BOBBIN_VERSION}` };
  const key = settings.bearerToken ?? (settings.envKey === null ? undefined : env[settings.envKey]?.trim());
  if (settings.wire === "messages") headers["anthropic-version"] = "2023-06-01";
  if (key) {
    if (settings.wire === "messages") headers["x-api-key"] = key;
    else headers.authorization = `Bearer ${key}`;
  } else if (settings.envKey !== null) throw missingKey(settings);
  for (const [name, variable] of Object.entries(settings.envHeaders)) {
    const value = env[variable]?.trim();
    if (value) headers[name.toLowerCase()] = value;
  }
  for (const [name, value] of Object.entries(settings.headers)) headers[name.toLowerCase()] = value;
  for (const [name, value] of Object.entries(headers))
    if (UNSENDABLE.test(value)) throw unsendable(settings, name);
  return headers;
}

/** What no header may have in it: a key that was copied with its ellipsis, say. */
const UNSENDABLE = /[^\t\x20-\x7e\x80-\xff]/;

/** `Retry-After` in seconds or as a date, and the finer one that some send. */
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

function silence(settings: ProviderSettings): ModelFault {
  const seconds = settings.streamIdleTimeoutMs / 1000;
  return disconnected(settings, `nothing came for ${seconds} s (stream_idle_timeout_ms)`);
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

/** How long a server may be silent. */
class Patience {
  readonly #ports: ModelPorts;
  readonly #over: () => void;
  #cancel: () => void = () => {};
  lost = false;

  constructor(ports: ModelPorts, over: () => void) {
    this.#ports = ports;
    this.#over = over;
  }

  renew(): void {
    this.#cancel();
    this.#cancel = this.#ports.platform.timers.after(this.#ports.settings.streamIdleTimeoutMs, () => {
      this.lost = true;
      this.#over();
    });
  }

  end(): void {
    this.#cancel();
  }
}
