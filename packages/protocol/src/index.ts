export { type CheckOptions, check, type Violation } from "./schema-check.ts";
export type { Schema, Static } from "./schema-language.ts";
export * from "./table.ts";
export type { MethodEntry, NotificationEntry, Scope, ServerRequestEntry, Stability } from "./table-entry.ts";
export type * from "./types/index.ts";
