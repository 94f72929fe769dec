import { ACCOUNT_KEYS } from "./account-keys.ts";
import { HOOK_KEYS } from "./hook-keys.ts";
import { HOST_KEYS } from "./host-keys.ts";
import { IGNORED_CODEX_KEYS } from "./ignored-codex-keys.ts";
import type { KeyTable } from "./key.ts";
import { MODEL_KEYS } from "./model-keys.ts";
import { PERMISSION_KEYS } from "./permission-keys.ts";
import { TOOL_KEYS } from "./tool-keys.ts";

/** Every key that config.toml may contain. */
export const CONFIG_KEYS: KeyTable = {
  ...MODEL_KEYS,
  ...ACCOUNT_KEYS,
  ...PERMISSION_KEYS,
  ...TOOL_KEYS,
  ...HOOK_KEYS,
  ...HOST_KEYS,
  ...IGNORED_CODEX_KEYS,
};

/** The keys by area, as docs/configuration.md lists them. */
export const KEY_AREAS: readonly { readonly title: string; readonly keys: KeyTable }[] = [
  { title: "Models", keys: MODEL_KEYS },
  { title: "Accounts", keys: ACCOUNT_KEYS },
  { title: "Permissions", keys: PERMISSION_KEYS },
  { title: "Tools", keys: TOOL_KEYS },
  { title: "Hooks", keys: HOOK_KEYS },
  { title: "The host", keys: HOST_KEYS },
  { title: "Features", keys: { features: IGNORED_CODEX_KEYS["features"]! } },
];
