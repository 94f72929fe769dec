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
import { isOwn, type ServerAddress } from "./address.ts";
import { type Answer, discard, exchange, type NoAnswer, type RuntimePorts, readAnswer } from "./http.ts";

/** A toolset, and the text that it was read from: the same text gives the same toolset. */
export interface KnownToolset {
  readonly text: string;
  readonly toolset: Toolset;
}

export type Discovery =
  | ({ readonly kind: "ready" } & KnownToolset)
  /**
   * Unreachable: it did not say what it has. Refused: it does not accept the credentials. Invalid: what it says cannot be
   * used.
   */
  | { readonly kind: "unreachable" | "refused" | "invalid"; readonly says: string };

export interface DiscoveryOptions {
  /** How long all of it may take, redirects included. */
  readonly timeoutMs: number;
  /** What was read before. */
  readonly known?: KnownToolset | undefined;
  readonly signal?: AbortSignal;
}

const MAX_REDIRECTS = 3;

/**
 * Asks a tool server for its toolset, whole or not at all.
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
    return await followed(server, ports, options, late.signal);
  } finally {
    cancel();
  }
}

async function followed(
  server: ServerAddress,
  ports: RuntimePorts,
  { timeoutMs, known, signal }: DiscoveryOptions,
  late: AbortSignal,
): Promise<Discovery> {
  let url = new URL(underBase(server.url, PATHS.toolset));
  const headers = { ...server.headers, accept: "application/json" };
  const cut = signal === undefined ? late : AbortSignal.any([signal, late]);
  for (let redirects = 0; ; redirects++) {
    const ask = () => exchange(ports, url, { method: "GET", headers }, timeoutMs, take, cut);
    const first = await ask();
    // A connection that was kept open may be lost with the server's last process. Asking changes nothing there.
    const got = first.kind === "failed" && first.left ? await ask() : first;
    if (got.kind !== "answered")
      return { kind: "unreachable", says: noAnswer(late.aborted ? { kind: "timedOut" } : got) };
    if ("text" in got.value) return readToolset(server, got.value.text, known);
    if (!("location" in got.value)) return got.value;
    const { location } = got.value;
    // The address is pinned: whoever is at the other one was not configured.
    if (
      redirects === MAX_REDIRECTS ||
      !URL.canParse(location, url.href) ||
      !isOwn(server, new URL(location, url).href)
    )
      return { kind: "unreachable", says: "it redirects to another address, which is not followed" };
    url = new URL(location, url);
  }
}

type Taken =
  | { readonly text: string }
  | { readonly location: string }
  | Exclude<Discovery, { kind: "ready" }>;

async function take(answer: Answer): Promise<Taken> {
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
  // Whoever answers so does not say what there is: it may be a proxy, or a limit.
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

/** A toolset from a text that was kept: of this server, or of whoever was at its address then. */
export function readToolset(server: ServerAddress, text: string, known?: KnownToolset): Discovery {
  // What was found good for one server need not be good for another, but `known` is of this one.
  if (known?.text === text) return { kind: "ready", ...known };
  const json = parseJson(new TextEncoder().encode(text));
  const toolset = json.ok ? parseToolset(json.value) : json;
  if (!toolset.ok) {
    const { path, says } = toolset.problem;
    return { kind: "invalid", says: `its toolset can not be used: ${path === "" ? "it" : path} ${says}` };
  }
  const problem = problemOf(server, toolset.value);
  if (problem !== undefined) return { kind: "invalid", says: `its toolset can not be used: ${problem}` };
  return { kind: "ready", text, toolset: toolset.value };
}

function problemOf(server: ServerAddress, { endpoint, tools }: Toolset): string | undefined {
  if (!isOwn(server, endpoint))
    return `endpoint is at ${new URL(endpoint).origin}, which is not allowed for it`;
  for (const { name, inputSchema } of tools) {
    if (name === EVENT_TOOL) return `the name ${EVENT_TOOL} is reserved`;
    try {
      argumentsCheck(inputSchema);
    } catch (cause) {
      return `the schema of ${name} can not be used: ${(cause as Error).message}`;
    }
  }
  return undefined;
}

export function noAnswer(none: NoAnswer): string {
  switch (none.kind) {
    case "timedOut":
      return "it did not answer in time";
    case "aborted":
      return "it was not asked to the end";
    case "failed":
      return `it can not be reached: ${none.says}`;
  }
}
