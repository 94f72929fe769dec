import { boolean, enumeration, filePath, object, optional, type Static, string } from "../schema-language.ts";

export const WindowsSandboxSetupMode = enumeration("WindowsSandboxSetupMode", ["elevated", "unelevated"]);
export type WindowsSandboxSetupMode = Static<typeof WindowsSandboxSetupMode>;

export const WindowsSandboxSetupStartParams = object("WindowsSandboxSetupStartParams", () => ({
  cwd: optional(filePath()),
  mode: WindowsSandboxSetupMode,
}));
export type WindowsSandboxSetupStartParams = Static<typeof WindowsSandboxSetupStartParams>;

export const WindowsSandboxSetupStartResponse = object("WindowsSandboxSetupStartResponse", () => ({
  started: boolean(),
}));
export type WindowsSandboxSetupStartResponse = Static<typeof WindowsSandboxSetupStartResponse>;

export const WindowsSandboxReadiness = enumeration("WindowsSandboxReadiness", [
  "ready",
  "notConfigured",
  "updateRequired",
]);
export type WindowsSandboxReadiness = Static<typeof WindowsSandboxReadiness>;

export const WindowsSandboxReadinessResponse = object("WindowsSandboxReadinessResponse", () => ({
  status: WindowsSandboxReadiness,
}));
export type WindowsSandboxReadinessResponse = Static<typeof WindowsSandboxReadinessResponse>;

export const WindowsSandboxSetupCompletedNotification = object(
  "WindowsSandboxSetupCompletedNotification",
  () => ({ error: optional(string()), mode: WindowsSandboxSetupMode, success: boolean() }),
);
export type WindowsSandboxSetupCompletedNotification = Static<
  typeof WindowsSandboxSetupCompletedNotification
>;
