import type { ToolCall } from "../core/turn/records.ts";
import { isTable } from "./hook-config.ts";

/** A tool call as hooks see it. */
export interface ToolUse {
  /** Name of the tool in the input of hooks. */
  readonly name: string;
  /** Other names of the tool that matchers may use. */
  readonly aliases: readonly string[];
  readonly input: unknown;
}

/**
 * Describes a tool call for hooks. Undefined for calls without hooks: input to a running program, and calls whose
 * arguments are not JSON.
 */
export function toolUse({ name, namespace, arguments: args, kind }: ToolCall): ToolUse | undefined {
  if (name === "write_stdin" && namespace === null) return undefined;
  if (name === "apply_patch" && namespace === null) {
    const patch = kind === "custom" ? args : patchOf(args);
    return patch === undefined ? undefined : { name, aliases: ["Write", "Edit"], input: { command: patch } };
  }
  if (kind === "custom") return { name: fullName(name, namespace), aliases: [], input: { input: args } };
  const input = parsed(args);
  if (input === undefined) return undefined;
  if (name === "exec_command" && namespace === null)
    return typeof input["cmd"] === "string"
      ? { name: "Bash", aliases: [name], input: { command: input["cmd"] } }
      : undefined;
  const aliases = name === "spawn_agent" && namespace === null ? ["Agent"] : [];
  return { name: fullName(name, namespace), aliases, input };
}

/**
 * Replaces the input of a call by the one that a hook returned. Returns the new arguments, or undefined if the input
 * has the wrong shape.
 */
export function withInput(call: ToolCall, input: unknown): string | undefined {
  const { name, namespace, arguments: args, kind } = call;
  const command = isTable(input) && typeof input["command"] === "string" ? input["command"] : undefined;
  if (name === "apply_patch" && namespace === null) {
    if (command === undefined) return undefined;
    return kind === "custom" ? command : JSON.stringify({ ...parsed(args), input: command });
  }
  if (name === "exec_command" && namespace === null)
    return command === undefined ? undefined : JSON.stringify({ ...parsed(args), cmd: command });
  if (kind === "custom")
    return isTable(input) && typeof input["input"] === "string" ? input["input"] : undefined;
  return isTable(input) ? JSON.stringify(input) : undefined;
}

function fullName(name: string, namespace: string | null): string {
  return namespace === null ? name : `${namespace}${namespace.endsWith("__") ? "" : "__"}${name}`;
}

function patchOf(args: string): string | undefined {
  const input = parsed(args)?.["input"];
  return typeof input === "string" ? input : undefined;
}

function parsed(args: string): { readonly [key: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(args === "" ? "{}" : args);
    return isTable(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
