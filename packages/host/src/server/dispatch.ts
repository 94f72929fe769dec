import { check, findMethod, type MethodEntry, type MethodName } from "@bobbin/protocol";
import { Fault, fault } from "../errors.ts";
import type { Log } from "../observe/log.ts";
import type { Ids } from "../platform/platform.ts";
import { storageFault } from "../store/storage-fault.ts";
import { authorize } from "./authorize.ts";
import type { Connection } from "./connection.ts";
import type { Call, FindHandler, Handler } from "./handler-types.ts";
import type { RequestId } from "./incoming-frames.ts";
import type { ReachLookup } from "./owner-access.ts";
import { namesOutdatedPolicy, warnOfOutdatedPolicy } from "./params/outdated-approval-policy.ts";
import type { RequestQueues } from "./request-queues.ts";

export interface DispatchPorts {
  readonly reachLookup: ReachLookup;
  readonly handlers: FindHandler;
  readonly queues: RequestQueues;
  readonly ids: Ids;
  readonly log: Log;
  readonly count: (method: string, outcome: string) => void;
}

/**
 * Handles a request: finds the method, checks access, validates the params, waits for the queue of its scope, and
 * calls the handler. Every request gets exactly one reply.
 */
export async function dispatch(
  ports: DispatchPorts,
  connection: Connection,
  id: RequestId,
  method: string,
  params: unknown,
): Promise<void> {
  const entry = findMethod(method);
  let replied = false;
  const call: Call<never> = {
    connection,
    reply(result) {
      if (replied) throw new Error(`${method} replied twice`);
      connection.reply(id, result);
      replied = true;
      ports.count(method, "ok");
    },
  };
  try {
    const handler = admit(ports, connection, method, entry);
    const isOutdated = namesOutdatedPolicy(connection, params);
    const checked = parse(connection, method, entry!, params);
    await ports.queues.run(entry!.scope, (checked as { threadId?: unknown }).threadId, async () => {
      await handler(checked as never, call);
    });
    if (!replied) throw new Error(`${method} did not reply`);
    if (isOutdated) warnOfOutdatedPolicy(connection);
  } catch (cause) {
    const error =
      cause instanceof Fault ? cause : (unstored(ports, method, cause) ?? internal(ports, method, cause));
    // An error after the reply is only logged, because the client already has its answer.
    if (replied) return ports.log.error("request failed after its reply", { method, cause });
    connection.refuse(id, error);
    ports.count(entry === undefined ? "unknown" : method, error.code);
  }
}

function admit(
  { handlers, reachLookup }: DispatchPorts,
  connection: Connection,
  method: string,
  entry: MethodEntry | undefined,
): Handler<never> {
  if (entry === undefined) throw fault("methodNotFound", method.slice(0, 200));
  const { client } = connection;
  if (method === "initialize") {
    if (client !== undefined) throw fault("alreadyInitialized");
  } else if (client === undefined) {
    throw fault("notInitialized");
  } else if (entry.stability === "experimental" && !client.experimental) {
    throw fault("experimentalRequired", method);
  }
  authorize(connection.meta.principal, method as MethodName, reachLookup);
  const handler = handlers(method as MethodName);
  if (handler === undefined) throw fault("methodNotImplemented", method);
  return handler;
}

function parse(connection: Connection, method: string, entry: MethodEntry, params: unknown): object {
  const input = params ?? {};
  const experimental = connection.client?.experimental ?? false;
  const violation = check(entry.params, input, { experimental, method });
  if (violation === undefined) return input;
  if (violation.kind === "experimental") throw fault("experimentalRequired", violation.name);
  const problem = fault("invalidParams", violation.path, violation.message);
  throw new Fault(problem.code, problem.message, { path: violation.path });
}

/** The client error for an I/O error of the storage; undefined for any other error. */
function unstored(ports: DispatchPorts, method: string, cause: unknown): Fault | undefined {
  const error = storageFault(cause);
  if (error !== undefined) ports.log.warn("request failed because of the disk", { method, cause });
  return error;
}

function internal(ports: DispatchPorts, method: string, cause: unknown): Fault {
  const reference = ports.ids.uuid();
  ports.log.error("request failed", { method, reference, cause });
  return fault("internal", reference);
}
