// The HTTP endpoints of a tool server: routing, authentication, rate limits and body limits.
import {
  isJson,
  type JsonObject,
  LIMITS,
  PATHS,
  type Parsed,
  type Problem,
  parseCallbackUrl,
  parseCancelToolCall,
  parseCloseThread,
  parseInvocation,
  parseJson,
  parseMigrate,
  parseReturnAddress,
  type ReturnAddress,
  readBytes,
  type Toolset,
} from "../wire/index.ts";
import type { Auth } from "./auth.ts";
import type { CallRegistry } from "./call-registry.ts";
import { OAUTH_PATH, type OAuthFlows } from "./oauth-flows.ts";
import type { TokenBucket } from "./rate-limit.ts";
import { type MigrateDeps, migrate } from "./session-migration.ts";
import { INVOKE_PATH } from "./toolset.ts";
import { CHOICE_PATH, type UserChoices } from "./user-choices.ts";

export interface HandlerDeps {
  /** Public base URL of the server. Undefined: the origin of each request is used. */
  readonly url: string | undefined;
  readonly auth: Auth;
  readonly toolset: (base: string) => Toolset;
  readonly calls: CallRegistry;
  readonly choices: UserChoices;
  readonly oauth: OAuthFlows | undefined;
  readonly migrate: MigrateDeps | undefined;
  readonly callbackOrigins: ReadonlySet<string> | undefined;
  readonly buckets: {
    readonly closings: TokenBucket;
    readonly cancellations: TokenBucket;
    readonly answers: TokenBucket;
  };
  readonly closeThread: (tenant: string, thread: string) => void;
  readonly cancel: (tenant: string, thread: string, call: string) => void;
}

/** Limit on the JSON of an invalid id that is sent back in an error result. */
const MAX_ECHO = 4096;

type Handler = (request: Request) => Promise<Response>;

const empty = (status: number, headers: Record<string, string> = {}): Response =>
  new Response(null, { status, headers });
const refusal = (status: number, says: string): Response => Response.json({ error: says }, { status });

export function createHandler(deps: HandlerDeps): Handler {
  const prefix = deps.url === undefined ? "" : new URL(deps.url).pathname.replace(/\/+$/, "");
  return async (request) => {
    const { pathname, origin, searchParams } = new URL(request.url);
    if (!pathname.startsWith(`${prefix}/`)) return refusal(404, "not found");
    const path = pathname.slice(prefix.length);
    const base = deps.url ?? origin;
    switch (path) {
      case PATHS.toolset:
        return guarded(deps, request, "GET", async () => Response.json(deps.toolset(base)));
      case INVOKE_PATH:
        return guarded(deps, request, "POST", (tenant) => invoke(deps, tenant, base, request));
      case PATHS.closeThread:
        return guarded(deps, request, "POST", (tenant) =>
          notice(deps.buckets.closings, request, parseCloseThread, ({ thread_id }) =>
            deps.closeThread(tenant, thread_id),
          ),
        );
      case PATHS.cancelToolCall:
        return guarded(deps, request, "POST", (tenant) =>
          notice(deps.buckets.cancellations, request, parseCancelToolCall, ({ thread_id, tool_call_id }) =>
            deps.cancel(tenant, thread_id, tool_call_id),
          ),
        );
      case PATHS.migrate: {
        const migrating = deps.migrate;
        if (migrating === undefined) return refusal(404, "this server has nothing to migrate");
        return guarded(deps, request, "POST", (tenant) => migration(migrating, tenant, request));
      }
      case OAUTH_PATH:
        if (deps.oauth === undefined) return refusal(404, "not found");
        if (request.method !== "GET") return empty(405, { Allow: "GET" });
        return limited(deps.buckets.answers) ?? deps.oauth.callback(searchParams);
      default:
        if (!path.startsWith(CHOICE_PATH)) return refusal(404, "not found");
        return answer(deps, path.slice(CHOICE_PATH.length), request);
    }
  };
}

async function guarded(
  { auth }: HandlerDeps,
  request: Request,
  method: "GET" | "POST",
  then: (tenant: string) => Promise<Response>,
): Promise<Response> {
  if (request.method !== method) return empty(405, { Allow: method });
  const who = await auth(request);
  if (who === undefined) return empty(401, { "WWW-Authenticate": "Bearer" });
  return then(who.tenant);
}

function limited(bucket: TokenBucket): Response | undefined {
  const wait = bucket.take();
  return wait === 0 ? undefined : empty(429, { "Retry-After": String(Math.ceil(wait / 1000)) });
}

/** Parses the body of a request. Resolves with the error response if the body is no valid message. */
async function bodyOf(request: Request, max: number): Promise<JsonObject | Response> {
  if (!isJson(request.headers.get("Content-Type")))
    return refusal(415, "Content-Type must be application/json");
  const bytes = await readBytes(request.body, max);
  if (bytes === undefined) return refusal(413, `a body must not be larger than ${max} bytes`);
  const read = parseJson(bytes);
  return read.ok ? read.value : refusal(400, `the body ${read.problem.says}`);
}

async function invoke(
  { calls, callbackOrigins }: HandlerDeps,
  tenant: string,
  base: string,
  request: Request,
): Promise<Response> {
  const body = await bodyOf(request, LIMITS.invocationBytes);
  if (body instanceof Response) return body;
  const url = parseCallbackUrl(body);
  // Without a valid callback URL there is nowhere to send an error result.
  if (!url.ok) return refusal(400, problemText(url.problem));
  if (callbackOrigins?.has(new URL(url.value).origin) === false)
    return refusal(403, "the origin of callback_url is not one of the server's callbackOrigins");
  const address = parseReturnAddress(body);
  if (!address.ok) {
    // Sends an error result and also refuses the request: with invalid ids the host may not find the call.
    calls.reject(unreadAddress(body, url.value), `The call cannot be read: ${problemText(address.problem)}.`);
    return refusal(400, problemText(address.problem));
  }
  const read = parseInvocation(body);
  if (!read.ok) {
    calls.reject(address.value, `The call cannot be read: ${problemText(read.problem)}.`);
    return empty(200);
  }
  switch (await calls.accept(tenant, base, read.value)) {
    case "accepted":
      return empty(200);
    case "full":
      return empty(503, { "Retry-After": "1" });
    case "taken":
      return refusal(409, "id is that of another call, with another operation or other arguments");
  }
}

function problemText({ path, says }: Problem): string {
  return `${path} ${says}`;
}

/** The return address of a call with invalid ids. Each id is echoed as it came, so that the host may recognize it. */
function unreadAddress({ id, group_id, call_id }: JsonObject, callback_url: string): ReturnAddress {
  const echoed = (value: unknown): unknown => {
    const json = JSON.stringify(value) ?? "";
    return json.length <= MAX_ECHO ? value : undefined;
  };
  const ids = { id: echoed(id), group_id: echoed(group_id), call_id: echoed(call_id) ?? null };
  return { ...(ids as ReturnAddress), callback_url };
}

/** Replies 200 to every notice, valid or not, so that the reply does not reveal which threads and calls exist. */
async function notice<T>(
  bucket: TokenBucket,
  request: Request,
  parse: (value: unknown) => Parsed<T>,
  act: (notice: T) => void,
): Promise<Response> {
  const refused = limited(bucket);
  if (refused !== undefined) return refused;
  const body = await bodyOf(request, LIMITS.noticeBytes).catch(() => empty(200));
  const read = body instanceof Response ? undefined : parse(body);
  if (read?.ok) act(read.value);
  return empty(200);
}

async function migration(deps: MigrateDeps, tenant: string, request: Request): Promise<Response> {
  const body = await bodyOf(request, LIMITS.noticeBytes);
  if (body instanceof Response) return body;
  const read = parseMigrate(body);
  if (!read.ok) return refusal(400, `${read.problem.path} ${read.problem.says}`);
  return migrate(deps, tenant, read.value);
}

/** Takes the answer to a user choice. Not authenticated: the token in the URL is known only to the host that got it. */
async function answer(deps: HandlerDeps, token: string, request: Request): Promise<Response> {
  if (request.method !== "POST") return empty(405, { Allow: "POST" });
  const refused = limited(deps.buckets.answers);
  if (refused !== undefined) return refused;
  const body = await bodyOf(request, LIMITS.noticeBytes);
  return body instanceof Response ? body : empty(await deps.choices.answer(token, body));
}
