export { type CheckOptions, check, type Violation } from "./check.ts";
export type { MethodEntry, NotificationEntry, Scope, ServerRequestEntry, Stability } from "./entry.ts";
export type { Schema, Static } from "./schema.ts";
export * from "./table.ts";
export type * from "./types/index.ts";
