import { methods } from "./methods/index.ts";
import { notifications } from "./notifications.ts";
import type { Static } from "./schema-language.ts";
import { serverRequests, threadRequests } from "./server-requests.ts";
import type { MethodEntry, NotificationEntry, ServerRequestEntry } from "./table-entry.ts";

export { methods, notifications, serverRequests, threadRequests };

export const clientNotifications = ["initialized"] as const;

export type MethodName = keyof typeof methods;
export type Params<M extends MethodName> = Static<(typeof methods)[M]["params"]>;
export type Result<M extends MethodName> = Static<(typeof methods)[M]["result"]>;

export type NotificationName = keyof typeof notifications;
export type NotificationParams<N extends NotificationName> = Static<(typeof notifications)[N]["params"]>;

export type ServerRequestName = keyof typeof serverRequests;
export type ThreadRequestName = keyof typeof threadRequests;
export type ServerRequestParams<N extends ServerRequestName> = Static<(typeof serverRequests)[N]["params"]>;
export type ServerRequestResult<N extends ServerRequestName> = Static<(typeof serverRequests)[N]["result"]>;

export type ClientNotificationName = (typeof clientNotifications)[number];

// Method names come from clients, so names such as `constructor` must not find inherited properties.
export function findMethod(name: string): MethodEntry | undefined {
  return Object.hasOwn(methods, name) ? methods[name as MethodName] : undefined;
}
export function findNotification(name: string): NotificationEntry | undefined {
  return Object.hasOwn(notifications, name) ? notifications[name as NotificationName] : undefined;
}
export function findServerRequest(name: string): ServerRequestEntry | undefined {
  return Object.hasOwn(serverRequests, name) ? serverRequests[name as ServerRequestName] : undefined;
}
