import {
  argumentsCheck,
  EVENT_TOOL,
  isJson,
  LIMITS,
  PATHS,
  parseJson,
  parseToolset,
  type Toolset,
  underBase,
} from "../wire/index.ts";
import {
  type Answer,
  discard,
  exchange,
  type NoAnswer,
  type RuntimePorts,
  readAnswer,
} from "./http-exchange.ts";
import { isOwnUrl, type ServerAddress } from "./server-address.ts";

/** A parsed toolset with the JSON text that it was parsed from. An equal text need not be parsed again. */
export interface KnownToolset {
  /** The JSON text of the toolset. */
  readonly text: string;
  /** The toolset that was parsed from `text`. */
  readonly toolset: Toolset;
}

/** What came of asking a tool server for its tools. */
export type Discovery =
  | ({ readonly kind: "ready" } & KnownToolset)
  /**
   * `unreachable`: the server sent no toolset (no connection, a timeout, an error status). `refused`: the server does
   * not accept the credentials. `invalid`: the toolset that the server sent cannot be used.
   */
  | { readonly kind: "unreachable" | "refused" | "invalid"; readonly says: string };

export interface DiscoveryOptions {
  /** Time limit for the whole discovery, redirects included. */
  readonly timeoutMs: number;
  /** The toolset of an earlier discovery. It is returned if the server sends the same text again. */
  readonly known?: KnownToolset | undefined;
  readonly signal?: AbortSignal;
}

const MAX_REDIRECTS = 3;

/**
 * Asks a tool server for its toolset. A toolset with one bad tool is invalid as a whole.
 *
 * @example
 * const found = await discover(server, ports, { timeoutMs: 5000 });
 * if (found.kind !== "ready") warn(`${server.name}: ${found.says}`);
 */
export async function discover(
  server: ServerAddress,
  ports: RuntimePorts,
  options: DiscoveryOptions,
): Promise<Discovery> {
  const late = new AbortController();
  const cancel = ports.after(options.timeoutMs, () => late.abort());
  try {
    return await fetchToolset(server, ports, options, late.signal);
  } finally {
    cancel();
  }
}

async function fetchToolset(
  server: ServerAddress,
  ports: RuntimePorts,
  { timeoutMs, known, signal }: DiscoveryOptions,
  late: AbortSignal,
): Promise<Discovery> {
  let url = new URL(underBase(server.url, PATHS.toolset));
  const headers = { ...server.headers, accept: "application/json" };
  const cut = signal === undefined ? late : AbortSignal.any([signal, late]);
  for (let redirects = 0; ; redirects++) {
    const ask = () => exchange(ports, url, { method: "GET", headers }, timeoutMs, readResponse, cut);
    const first = await ask();
    // A pooled connection may have died when the server restarted. A GET can be repeated without harm.
    const got = first.kind === "failed" && first.mayHaveArrived ? await ask() : first;
    if (got.kind !== "answered")
      return { kind: "unreachable", says: noAnswerText(late.aborted ? { kind: "timedOut" } : got) };
    if ("text" in got.value) return readToolset(server, got.value.text, known);
    if (!("location" in got.value)) return got.value;
    const { location } = got.value;
    // Redirects to other origins are not followed: only configured origins may supply tools.
    if (
      redirects === MAX_REDIRECTS ||
      !URL.canParse(location, url.href) ||
      !isOwnUrl(server, new URL(location, url).href)
    )
      return { kind: "unreachable", says: "it redirects to another address, which is not followed" };
    url = new URL(location, url);
  }
}

type ResponseContent =
  | { readonly text: string }
  | { readonly location: string }
  | Exclude<Discovery, { kind: "ready" }>;

async function readResponse(answer: Answer): Promise<ResponseContent> {
  const { status, headers } = answer;
  const location = headers.get("location");
  if (status >= 300 && status < 400 && location !== null) {
    await discard(answer);
    return { location };
  }
  if (status === 401 || status === 403) {
    await discard(answer);
    return { kind: "refused", says: `it does not accept the credentials (status ${status})` };
  }
  // Any other status may come from a proxy or a rate limit, and says nothing about the toolset.
  if (status !== 200) {
    await discard(answer);
    return { kind: "unreachable", says: `it answered with status ${status}` };
  }
  if (!isJson(headers.get("content-type"))) {
    await discard(answer);
    return { kind: "invalid", says: "its toolset is not application/json" };
  }
  const bytes = await readAnswer(answer, LIMITS.toolsetBytes);
  if (bytes === undefined)
    return { kind: "invalid", says: `its toolset is larger than ${LIMITS.toolsetBytes} bytes` };
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return { kind: "invalid", says: "its toolset is not UTF-8" };
  }
}

/**
 * Parses and checks the text of a toolset, from a reply or from a cache.
 *
 * @example
 * const found = readToolset(server, await readFile(cached, "utf8"));
 */
export function readToolset(server: ServerAddress, text: string, known?: KnownToolset): Discovery {
  // `known` was checked against this server's origins. A toolset of another server would have to be checked again.
  if (known?.text === text) return { kind: "ready", ...known };
  const json = parseJson(new TextEncoder().encode(text));
  const toolset = json.ok ? parseToolset(json.value) : json;
  if (!toolset.ok) {
    const { path, says } = toolset.problem;
    return { kind: "invalid", says: `its toolset cannot be used: ${path === "" ? "it" : path} ${says}` };
  }
  const problem = problemOf(server, toolset.value);
  if (problem !== undefined) return { kind: "invalid", says: `its toolset cannot be used: ${problem}` };
  return { kind: "ready", text, toolset: toolset.value };
}

function problemOf(server: ServerAddress, { endpoint, tools }: Toolset): string | undefined {
  if (!isOwnUrl(server, endpoint))
    return `endpoint is at ${new URL(endpoint).origin}, which is not allowed for it`;
  for (const { name, inputSchema } of tools) {
    if (name === EVENT_TOOL) return `the name ${EVENT_TOOL} is reserved`;
    try {
      argumentsCheck(inputSchema);
    } catch (cause) {
      return `the schema of ${name} cannot be used: ${(cause as Error).message}`;
    }
  }
  return undefined;
}

export function noAnswerText(none: NoAnswer): string {
  switch (none.kind) {
    case "timedOut":
      return "it did not answer in time";
    case "aborted":
      return "it was not asked to the end";
    case "failed":
      return `it cannot be reached: ${none.says}`;
  }
}
