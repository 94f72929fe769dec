// The endpoints: who may come in, how often, with what.
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
import type { Calls } from "./calls.ts";
import { CHOICE_PATH, type Choices } from "./choices.ts";
import { type MigrateGround, migrate } from "./migrate.ts";
import { OAUTH_PATH, type OAuthFlows } from "./oauth.ts";
import type { Bucket } from "./rate.ts";
import { INVOKE_PATH } from "./toolset.ts";

export interface HandlerGround {
  /** Where the server is; undefined: where the request came to. */
  readonly url: string | undefined;
  readonly auth: Auth;
  readonly toolset: (base: string) => Toolset;
  readonly calls: Calls;
  readonly choices: Choices;
  readonly oauth: OAuthFlows | undefined;
  readonly migrate: MigrateGround | undefined;
  readonly callbackOrigins: ReadonlySet<string> | undefined;
  readonly buckets: { readonly closings: Bucket; readonly cancellations: Bucket; readonly answers: Bucket };
  readonly closeThread: (tenant: string, thread: string) => void;
  readonly cancel: (tenant: string, thread: string, call: string) => void;
}

/** What of an id that can not be read is sent back, at most, as JSON. */
const MAX_ECHO = 4096;

type Handler = (request: Request) => Promise<Response>;

const empty = (status: number, headers: Record<string, string> = {}): Response =>
  new Response(null, { status, headers });
const refusal = (status: number, says: string): Response => Response.json({ error: says }, { status });

export function handlerOf(ground: HandlerGround): Handler {
  const prefix = ground.url === undefined ? "" : new URL(ground.url).pathname.replace(/\/+$/, "");
  return async (request) => {
    const { pathname, origin, searchParams } = new URL(request.url);
    if (!pathname.startsWith(`${prefix}/`)) return refusal(404, "not found");
    const path = pathname.slice(prefix.length);
    const base = ground.url ?? origin;
    switch (path) {
      case PATHS.toolset:
        return guarded(ground, request, "GET", async () => Response.json(ground.toolset(base)));
      case INVOKE_PATH:
        return guarded(ground, request, "POST", (tenant) => invoke(ground, tenant, base, request));
      case PATHS.closeThread:
        return guarded(ground, request, "POST", (tenant) =>
          notice(ground.buckets.closings, request, parseCloseThread, ({ thread_id }) =>
            ground.closeThread(tenant, thread_id),
          ),
        );
      case PATHS.cancelToolCall:
        return guarded(ground, request, "POST", (tenant) =>
          notice(ground.buckets.cancellations, request, parseCancelToolCall, ({ thread_id, tool_call_id }) =>
            ground.cancel(tenant, thread_id, tool_call_id),
          ),
        );
      case PATHS.migrate: {
        const migrating = ground.migrate;
        if (migrating === undefined) return refusal(404, "this server has nothing to migrate");
        return guarded(ground, request, "POST", (tenant) => migration(migrating, tenant, request));
      }
      case OAUTH_PATH:
        if (ground.oauth === undefined) return refusal(404, "not found");
        if (request.method !== "GET") return empty(405, { Allow: "GET" });
        return limited(ground.buckets.answers) ?? ground.oauth.callback(searchParams);
      default:
        if (!path.startsWith(CHOICE_PATH)) return refusal(404, "not found");
        return answer(ground, path.slice(CHOICE_PATH.length), request);
    }
  };
}

async function guarded(
  { auth }: HandlerGround,
  request: Request,
  method: "GET" | "POST",
  then: (tenant: string) => Promise<Response>,
): Promise<Response> {
  if (request.method !== method) return empty(405, { Allow: method });
  const who = await auth(request);
  if (who === undefined) return empty(401, { "WWW-Authenticate": "Bearer" });
  return then(who.tenant);
}

function limited(bucket: Bucket): Response | undefined {
  const wait = bucket.take();
  return wait === 0 ? undefined : empty(429, { "Retry-After": String(Math.ceil(wait / 1000)) });
}

/** A body as a message, or the answer to what is none. */
async function bodyOf(request: Request, max: number): Promise<JsonObject | Response> {
  if (!isJson(request.headers.get("Content-Type"))) return refusal(415, "the type must be application/json");
  const bytes = await readBytes(request.body, max);
  if (bytes === undefined) return refusal(413, `a body must not be larger than ${max} bytes`);
  const read = parseJson(bytes);
  return read.ok ? read.value : refusal(400, `the body ${read.problem.says}`);
}

async function invoke(
  { calls, callbackOrigins }: HandlerGround,
  tenant: string,
  base: string,
  request: Request,
): Promise<Response> {
  const body = await bodyOf(request, LIMITS.invocationBytes);
  if (body instanceof Response) return body;
  const url = parseCallbackUrl(body);
  // There is nobody to send a result to.
  if (!url.ok) return refusal(400, problemText(url.problem));
  if (callbackOrigins?.has(new URL(url.value).origin) === false)
    return refusal(403, "callback_url is none that results are sent to");
  const address = parseReturnAddress(body);
  if (!address.ok) {
    // Whether its host can tell what the result is for is not known here, so that it is refused as well.
    calls.reject(
      unreadAddress(body, url.value),
      `The call can not be read: ${problemText(address.problem)}.`,
    );
    return refusal(400, problemText(address.problem));
  }
  const read = parseInvocation(body);
  if (!read.ok) {
    calls.reject(address.value, `The call can not be read: ${problemText(read.problem)}.`);
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

/** What a call says of itself that can not be read: a host finds what it wrote, whatever that is. */
function unreadAddress({ id, group_id, call_id }: JsonObject, callback_url: string): ReturnAddress {
  const said = (value: unknown): unknown => {
    const json = JSON.stringify(value) ?? "";
    return json.length <= MAX_ECHO ? value : undefined;
  };
  const ids = { id: said(id), group_id: said(group_id), call_id: said(call_id) ?? null };
  return { ...(ids as ReturnAddress), callback_url };
}

/** Whatever comes is taken, so that nobody learns from the answer what there is. What can not be read means nothing. */
async function notice<T>(
  bucket: Bucket,
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

async function migration(ground: MigrateGround, tenant: string, request: Request): Promise<Response> {
  const body = await bodyOf(request, LIMITS.noticeBytes);
  if (body instanceof Response) return body;
  const read = parseMigrate(body);
  if (!read.ok) return refusal(400, `${read.problem.path} ${read.problem.says}`);
  return migrate(ground, tenant, read.value);
}

/** Who knows the address was asked. */
async function answer(ground: HandlerGround, token: string, request: Request): Promise<Response> {
  if (request.method !== "POST") return empty(405, { Allow: "POST" });
  const refused = limited(ground.buckets.answers);
  if (refused !== undefined) return refused;
  const body = await bodyOf(request, LIMITS.noticeBytes);
  return body instanceof Response ? body : empty(await ground.choices.answer(token, body));
}
