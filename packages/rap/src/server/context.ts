import { type DisplaySegment, isObject, type JsonObject, LIMITS } from "../wire/index.ts";
import type { Call } from "./call.ts";
import type { Choices } from "./choices.ts";
import type { Delivering } from "./deliver.ts";
import type { Log } from "./log.ts";
import type { OAuthFlows } from "./oauth.ts";
import type { Subscriptions } from "./subscriptions.ts";
import type { ThreadScope } from "./thread-scope.ts";
import type { Subscription, ToolContext } from "./tool.ts";

export interface ContextGround {
  readonly subscriptions: Subscriptions;
  readonly choices: Choices;
  readonly oauth: OAuthFlows | undefined;
  readonly delivering: Delivering;
  readonly log: Log;
}

/** A view is a convenience: nobody waits long for it to arrive. */
const VIEW_MS = 60_000;

export function contextOf(ground: ContextGround, call: Call, scope: ThreadScope): ToolContext {
  const { id, user_id, thread_ancestors } = call.invocation;
  return {
    callId: id,
    userId: user_id ?? undefined,
    signal: call.signal,
    thread: scope.context(thread_ancestors),
    subscribe: (state = {}) => subscribe(ground, call, state),
    requireOAuth: async (provider) => {
      if (ground.oauth === undefined)
        throw new TypeError("ctx.requireOAuth() needs the server's option `oauth`");
      return ground.oauth.require(call, provider);
    },
    choose: (question) => ground.choices.ask(call, scope, question),
    view: (type, content) => view(ground, call, scope, type, content),
    display: (...segments: readonly DisplaySegment[]) => {
      call.display = [...call.display, ...segments];
    },
  };
}

async function subscribe(
  { subscriptions }: ContextGround,
  call: Call,
  state: JsonObject,
): Promise<Subscription> {
  call.signal.throwIfAborted();
  if (call.subscription !== undefined) throw new TypeError("a call begins one subscription");
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
  { delivering, log }: ContextGround,
  call: Call,
  scope: ThreadScope,
  type: string,
  content: JsonObject | null,
): Promise<void> {
  if (type === "" || type.length > LIMITS.name)
    throw new TypeError("a view needs a type of a bounded length");
  if (content !== null && !isObject(content)) throw new TypeError("the content of a view is an object");
  const empty = content === null || Object.keys(content).length === 0;
  // Nothing is shown, and nothing is to be shown: there is nothing to tell.
  if (empty && !scope.shows(type)) return;
  const { callback_url, group_id } = call.invocation;
  const delivery = await delivering.deliver(
    callback_url,
    { type: "view_update", group_id, view_type: type, content: content ?? {} },
    { signal: call.signal, giveUpAfterMs: VIEW_MS },
  );
  if (delivery.kind === "delivered") return scope.show(type, !empty);
  log({ level: "warn", says: "a view was not shown", view: type, thread: group_id, how: delivery.kind });
}
