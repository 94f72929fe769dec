import type { ExperimentalFeature } from "@bobbin/protocol";
import { isTable } from "./layer.ts";
import { flag, subtable, type Table } from "./table-reader.ts";

/** A feature that `[features]` turns on or off. Its name is that of the Codex CLI. */
type Feature = Omit<ExperimentalFeature, "enabled">;

/** Feature that lets models ask the user in Default mode, not only in Plan mode. */
export const ASK_IN_DEFAULT_MODE = "default_mode_request_user_input";

/** Features that are on by default, with their texts for people. */
const SWITCHES = {
  goals: {
    displayName: "Goals",
    description: "Let threads have goals, which models pursue over several turns.",
  },
  hooks: {
    displayName: "Hooks",
    description: "Run the hooks that people and projects configure. Required ones always run.",
  },
  multi_agent: {
    displayName: "Helpers",
    description: "Let models start helpers, each in a thread of its own.",
  },
  request_permissions_tool: {
    displayName: "Requests for permissions",
    description: "Let models ask for the network, or for further folders, without leaving the sandbox.",
  },
  shell_tool: { displayName: "Commands", description: "Let models run commands." },
  view_image: { displayName: "Pictures", description: "Let models look at pictures that are files." },
} as const;

export type SwitchName = keyof typeof SWITCHES | typeof ASK_IN_DEFAULT_MODE;

export const FEATURES: readonly Feature[] = [
  {
    name: ASK_IN_DEFAULT_MODE,
    stage: "beta",
    displayName: "Questions in Default mode",
    description: "Let models ask you questions in Default mode, not only in Plan mode.",
    announcement: null,
    defaultEnabled: false,
  },
  {
    name: "network_proxy",
    stage: "beta",
    displayName: "Network by host",
    description: "Ask which hosts commands connect to where they have the network.",
    announcement: null,
    defaultEnabled: false,
  },
  ...Object.entries(SWITCHES).map(
    ([name, words]): Feature => ({
      name,
      stage: "stable",
      ...words,
      announcement: null,
      defaultEnabled: true,
    }),
  ),
];

/** Names of the features that are on by default. */
const USUALLY_ON: ReadonlySet<string> = new Set(Object.keys(SWITCHES));

export function isUsuallyOn(name: string): boolean {
  return USUALLY_ON.has(name);
}

/** Features that clients can turn on or off while the host runs. The others have settings in config.toml. */
export const RUNTIME_FEATURES: readonly string[] = [ASK_IN_DEFAULT_MODE, ...USUALLY_ON];

/** Earlier names of features in the Codex CLI, with today's names. */
const OLDER_NAMES: Readonly<Record<string, string>> = { codex_hooks: "hooks", collab: "multi_agent" };

/** Reads `[features]`. Features that the table does not mention are missing in the result. */
export function readFeatures(table: Table): Readonly<Record<string, boolean>> {
  const section = subtable(table, "features") ?? {};
  const names = [...Object.keys(OLDER_NAMES), ...FEATURES.map(({ name }) => name)];
  const switched = names.filter((name) => section[name] !== undefined);
  return Object.fromEntries(
    switched.map((name) => {
      const value = section[name];
      // A table of settings turns its feature on, unless the table contains `enabled = false`.
      const isOn = isTable(value) ? value["enabled"] !== false : flag(section, name, "features.")!;
      return [OLDER_NAMES[name] ?? name, isOn];
    }),
  );
}
