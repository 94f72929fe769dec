import { type DisplaySegment, isObject, type JsonObject, LIMITS } from "../wire/index.ts";
import type { Call } from "./call.ts";
import type { CallbackSender } from "./callback-sender.ts";
import type { Log } from "./log.ts";
import type { OAuthFlows } from "./oauth-flows.ts";
import type { SubscriptionRegistry } from "./subscription-registry.ts";
import type { ThreadScope } from "./thread-scope.ts";
import type { Subscription, ToolContext } from "./tool.ts";
import type { UserChoices } from "./user-choices.ts";

export interface ToolContextDeps {
  readonly subscriptions: SubscriptionRegistry;
  readonly choices: UserChoices;
  readonly oauth: OAuthFlows | undefined;
  readonly sender: CallbackSender;
  readonly log: Log;
}

/** Time limit for delivering a view. Views are optional, so the tool does not wait longer. */
const VIEW_MS = 60_000;

/** Creates the context that a tool's `run` gets for one call. */
export function createToolContext(deps: ToolContextDeps, call: Call, scope: ThreadScope): ToolContext {
  const { id, user_id, thread_ancestors } = call.invocation;
  return {
    callId: id,
    userId: user_id ?? undefined,
    signal: call.signal,
    thread: scope.context(thread_ancestors),
    subscribe: (state = {}) => subscribe(deps, call, state),
    requireOAuth: async (provider) => {
      if (deps.oauth === undefined)
        throw new TypeError("ctx.requireOAuth() needs the server's option `oauth`");
      return deps.oauth.require(call, provider);
    },
    choose: (question) => deps.choices.ask(call, scope, question),
    view: (type, content) => view(deps, call, scope, type, content),
    display: (...segments: readonly DisplaySegment[]) => {
      call.display = [...call.display, ...segments];
    },
  };
}

async function subscribe(
  { subscriptions }: ToolContextDeps,
  call: Call,
  state: JsonObject,
): Promise<Subscription> {
  call.signal.throwIfAborted();
  if (call.subscription !== undefined) throw new TypeError("a call can start only one subscription");
  const { id, call_id, callback_url, group_id, operation, user_id, thread_ancestors } = call.invocation;
  const subscription = await subscriptions.begin(
    {
      tenant: call.record.tenant,
      address: { id, call_id, callback_url, group_id },
      root: thread_ancestors[0] ?? group_id,
      tool: operation,
      userId: user_id,
    },
    state,
  );
  call.subscription = subscription;
  return subscription;
}

async function view(
  { sender, log }: ToolContextDeps,
  call: Call,
  scope: ThreadScope,
  type: string,
  content: JsonObject | null,
): Promise<void> {
  if (type === "" || type.length > LIMITS.name)
    throw new TypeError(`a view needs a type of 1 to ${LIMITS.name} characters`);
  if (content !== null && !isObject(content))
    throw new TypeError("the content of a view must be an object or null");
  const empty = content === null || Object.keys(content).length === 0;
  // A view that is not shown need not be cleared.
  if (empty && !scope.shows(type)) return;
  const { callback_url, group_id } = call.invocation;
  const delivery = await sender.deliver(
    callback_url,
    { type: "view_update", group_id, view_type: type, content: content ?? {} },
    { signal: call.signal, giveUpAfterMs: VIEW_MS },
  );
  if (delivery.kind === "delivered") return scope.show(type, !empty);
  log({
    level: "warn",
    says: "a view was not delivered to its host",
    view: type,
    thread: group_id,
    how: delivery.kind,
  });
}
