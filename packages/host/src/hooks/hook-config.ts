import { createHash } from "node:crypto";
import { EVENT_NAMES, EVENTS, type HookEvent } from "./hook-events.ts";
import { matcherProblem } from "./matcher.ts";

/** One configured hook. */
export interface HookDefinition {
  readonly event: HookEvent;
  readonly matcher: string | null;
  readonly command: string;
  readonly timeoutSec: number;
  /** Whether the thread continues without waiting for the hook. Such a hook cannot block anything. */
  readonly async: boolean;
  readonly statusMessage: string | null;
  /** Limit on the tokens of context that the hook adds; null for the default, 0 for no limit. */
  readonly additionalContextLimit: number | null;
  /** Position among the hooks of its event: the index of its group, and the index in the group. */
  readonly group: number;
  readonly index: number;
}

export interface HookTable {
  readonly hooks: readonly HookDefinition[];
  readonly warnings: readonly string[];
}

const USUAL_TIMEOUT_SEC = 600;
/** The default timeout at the end of a thread and at an interrupt, which must not wait long for hooks. */
const USUAL_END_SEC = 1;
const MOST_END_SEC = 3;
/** Limit on a hook's timeout. */
const MOST_SEC = 24 * 60 * 60;
const MOST_HOOKS = 500;

/** Keys of `[hooks]` that are not events: the user's decisions, and the folder of managed scripts. */
const OTHER_KEYS: ReadonlySet<string> = new Set(["state", "managed_dir", "windows_managed_dir"]);

type Loose = { readonly [key: string]: unknown };

/** Reads `[hooks]` of a config.toml, or `hooks` of a hooks.json. Invalid entries are ignored with a warning. */
export function readHooks(table: unknown, path: string): HookTable {
  const warnings: string[] = [];
  const hooks: HookDefinition[] = [];
  const warn = (what: string): void => void warnings.push(`${path}: ${what}`);
  if (!isTable(table)) {
    warn("`hooks` is not a table, and is ignored");
    return { hooks, warnings };
  }
  for (const name of Object.keys(table))
    if (!EVENT_NAMES.has(name) && !OTHER_KEYS.has(name))
      warn(`hooks for ${JSON.stringify(name)} are not run`);
  for (const [name, event] of EVENT_NAMES) {
    const groups = table[name];
    if (groups === undefined) continue;
    if (!Array.isArray(groups)) {
      warn(`hooks.${name} is not a list, and is ignored`);
      continue;
    }
    for (const [group, one] of groups.entries()) hooks.push(...readGroup(event, one, group, warn));
  }
  if (hooks.length > MOST_HOOKS) warn(`only the first ${MOST_HOOKS} hooks are used`);
  return { hooks: hooks.slice(0, MOST_HOOKS), warnings };
}

function readGroup(
  event: HookEvent,
  value: unknown,
  group: number,
  warn: (what: string) => void,
): readonly HookDefinition[] {
  const { name, matches } = EVENTS[event];
  const at = `hooks.${name}[${group}]`;
  const list = isTable(value) ? value["hooks"] : undefined;
  if (!isTable(value) || !Array.isArray(list)) {
    warn(`${at} has no list of hooks, and is ignored`);
    return [];
  }
  const matcher = matches && typeof value["matcher"] === "string" ? value["matcher"] : null;
  const problem = matcher === null ? undefined : matcherProblem(matcher);
  if (problem !== undefined) {
    warn(`${at}.matcher is not a regular expression, so its hooks do not run: ${problem}`);
    return [];
  }
  return list.flatMap((one, index) => readHook(event, matcher, one, { group, index }, warn));
}

function readHook(
  event: HookEvent,
  matcher: string | null,
  value: unknown,
  place: { readonly group: number; readonly index: number },
  warn: (what: string) => void,
): readonly HookDefinition[] {
  const at = `hooks.${EVENTS[event].name}[${place.group}].hooks[${place.index}]`;
  const hook = isTable(value) ? value : {};
  if (hook["type"] !== "command") {
    warn(`${at} has the type ${JSON.stringify(hook["type"] ?? null)}; only "command" is run`);
    return [];
  }
  const { command } = hook;
  if (typeof command !== "string" || command.trim() === "") {
    warn(`${at} has no command`);
    return [];
  }
  const isAsync = hook["async"] === true && event !== "sessionEnd";
  if (hook["async"] === true && !isAsync) warn(`${at} cannot be async, because the thread ends after it`);
  const limit = wholeOf(hook["additionalContextLimit"]);
  return [
    {
      event,
      matcher,
      command,
      timeoutSec: timeoutOf(event, wholeOf(hook["timeout"])),
      async: isAsync,
      statusMessage: typeof hook["statusMessage"] === "string" ? hook["statusMessage"] : null,
      additionalContextLimit: EVENTS[event].addsContext ? limit : null,
      ...place,
    },
  ];
}

function timeoutOf(event: HookEvent, configured: number | null): number {
  if (event === "sessionEnd" || event === "interrupt")
    return Math.min(Math.max(configured ?? USUAL_END_SEC, 1), MOST_END_SEC);
  return Math.min(Math.max(configured ?? USUAL_TIMEOUT_SEC, 1), MOST_SEC);
}

function wholeOf(value: unknown): number | null {
  const number = typeof value === "bigint" ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : null;
}

/** The key of a hook in `[hooks.state]`. */
export function hookKey(path: string, { event, group, index }: HookDefinition): string {
  return `${path}:${EVENTS[event].label}:${group}:${index}`;
}

/**
 * Digest of a hook's action and events. It does not depend on the formatting of the hook's file, and equals the
 * digest of the Codex CLI.
 */
export function hookDigest(hook: HookDefinition): string {
  const { event, matcher, command, timeoutSec: timeout, statusMessage, additionalContextLimit } = hook;
  const identity = {
    event_name: EVENTS[event].label,
    hooks: [
      {
        ...(additionalContextLimit !== null &&
          additionalContextLimit !== USUAL_CONTEXT_TOKENS && { additionalContextLimit }),
        async: hook.async,
        command,
        ...(statusMessage !== null && { statusMessage }),
        timeout,
        type: "command",
      },
    ],
    ...(matcher !== null && { matcher }),
  };
  return `sha256:${createHash("sha256").update(JSON.stringify(identity)).digest("hex")}`;
}

/** Default limit on the tokens of context that a hook adds. */
export const USUAL_CONTEXT_TOKENS = 2500;

export function isTable(value: unknown): value is Loose {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
