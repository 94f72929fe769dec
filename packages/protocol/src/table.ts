import type { MethodEntry, NotificationEntry, ServerRequestEntry } from "./entry.ts";
import { methods } from "./methods/index.ts";
import { notifications } from "./notifications.ts";
import type { Static } from "./schema.ts";
import { serverRequests } from "./server-requests.ts";

export { methods, notifications, serverRequests };

export const clientNotifications = ["initialized"] as const;

export type MethodName = keyof typeof methods;
export type Params<M extends MethodName> = Static<(typeof methods)[M]["params"]>;
export type Result<M extends MethodName> = Static<(typeof methods)[M]["result"]>;

export type NotificationName = keyof typeof notifications;
export type NotificationParams<N extends NotificationName> = Static<(typeof notifications)[N]["params"]>;

export type ServerRequestName = keyof typeof serverRequests;
export type ServerRequestParams<N extends ServerRequestName> = Static<(typeof serverRequests)[N]["params"]>;
export type ServerRequestResult<N extends ServerRequestName> = Static<(typeof serverRequests)[N]["result"]>;

export type ClientNotificationName = (typeof clientNotifications)[number];

// Names come from the wire: `constructor` and its kin must not find what the map inherits.
export function findMethod(name: string): MethodEntry | undefined {
  return Object.hasOwn(methods, name) ? methods[name as MethodName] : undefined;
}
export function findNotification(name: string): NotificationEntry | undefined {
  return Object.hasOwn(notifications, name) ? notifications[name as NotificationName] : undefined;
}
export function findServerRequest(name: string): ServerRequestEntry | undefined {
  return Object.hasOwn(serverRequests, name) ? serverRequests[name as ServerRequestName] : undefined;
}
