import type { AskForApproval, Personality, SandboxMode } from "@bobbin/protocol";
import { OFFLINE_MODEL } from "../model/model.ts";
import { ConfigError } from "./config-error.ts";

/** What threads start with, unless they say otherwise. Keys in config.toml are the peer's. */
export interface Config {
  readonly model: string;
  readonly modelProvider: string;
  readonly approvalPolicy: AskForApproval;
  readonly sandboxMode: SandboxMode;
  readonly effort: string | null;
  readonly personality: Personality | null;
  /** How long a thread stays loaded that nobody follows; by default it depends on the transport. */
  readonly threadUnloadDelaySecs: number | undefined;
  /** Idle threads beyond it are dropped from memory and come back when they are touched. */
  readonly maxResidentThreads: number;
  /** When a thread's journal is synced to the disk: before a turn's end is told, after every commit, or never. */
  readonly journalSync: "turns" | "always" | "never";
}

/** A TOML table as it came out of the parser. */
export type Table = { readonly [key: string]: unknown };

/** Takes what it knows out of a table; keys that it does not know are someone else's. */
export function readConfig(table: Table): Config {
  const modelProvider = text(table, "model_provider") ?? OFFLINE_MODEL;
  return {
    modelProvider,
    model: text(table, "model") ?? OFFLINE_MODEL,
    approvalPolicy: oneOf(table, "approval_policy", ["untrusted", "on-request", "never"]) ?? "on-request",
    sandboxMode:
      oneOf(table, "sandbox_mode", ["read-only", "workspace-write", "danger-full-access"]) ?? "read-only",
    effort: text(table, "model_reasoning_effort") ?? null,
    threadUnloadDelaySecs: whole(table, "thread_unload_delay_secs", 0),
    journalSync: oneOf(table, "journal_sync", ["turns", "always", "never"]) ?? "turns",
    maxResidentThreads: whole(table, "max_resident_threads", 1) ?? 256,
    personality: oneOf(table, "personality", ["none", "friendly", "pragmatic"]) ?? null,
  };
}

function text(table: Table, key: string): string | undefined {
  const value = table[key];
  if (value === undefined || typeof value === "string") return value;
  throw new ConfigError(`${key}: expected a string, found ${JSON.stringify(value)}`);
}

function whole(table: Table, key: string, least: number): number | undefined {
  const value = table[key];
  if (value === undefined) return undefined;
  const number = typeof value === "bigint" ? Number(value) : value;
  if (typeof number === "number" && Number.isSafeInteger(number) && number >= least) return number;
  throw new ConfigError(`${key}: expected a whole number of at least ${least}, found ${String(value)}`);
}

function oneOf<const T extends string>(table: Table, key: string, allowed: readonly T[]): T | undefined {
  const value = text(table, key);
  if (value === undefined) return undefined;
  const found = allowed.find((one) => one === value);
  if (found === undefined) throw new ConfigError(`${key}: "${value}" is not one of ${allowed.join(", ")}`);
  return found;
}
