import { check, methods, type Result } from "@bobbin/protocol";
import {
  type ConfigLayers,
  isTable,
  mergeLayers,
  originsOf,
  type Table,
} from "../../catalog/config-layers.ts";
import { type ConfigEdits, ConfigWriter } from "../../catalog/config-writer.ts";
import type { Projects } from "../../tool/project-rules.ts";
import { projectKey } from "../../tool/project-trust.ts";
import type { Handlers } from "../call.ts";
import { isHostUser } from "../host-user.ts";
import type { HandlerContext } from "./context.ts";

export function configHandlers(context: HandlerContext, layers: ConfigLayers): Handlers {
  const writer = new ConfigWriter(context.platform.files, layers);
  const write = async (edits: ConfigEdits): Promise<Result<"config/value/write">> => {
    const before = context.config.projects;
    const { reply, config } = await writer.write(edits);
    context.configure(config);
    const pins = await pinnedRules(before, config.projects);
    if (pins.length === 0) return reply;
    const pinned = await writer.write({ edits: pins });
    context.configure(pinned.config);
    return { ...reply, version: pinned.reply.version };
  };
  /** Who has just trusted a project trusts its rules as they are at that moment. */
  const pinnedRules = async (before: Projects, after: Projects): Promise<ConfigEdits["edits"]> => {
    const edits: ConfigEdits["edits"][number][] = [];
    for (const [root, { level, rules }] of after) {
      if (level !== "trusted" || rules !== null || before.get(root)?.level === "trusted") continue;
      const { project } = await context.rules.load(root);
      if (project?.root !== root || project.digest === null) continue;
      const keyPath = `${projectKey(root)}.trusted_rules`;
      edits.push({ keyPath, value: project.digest, mergeStrategy: "replace" });
    }
    return edits;
  };
  return {
    async "config/read"({ includeLayers }, { connection, reply }) {
      const read = await layers.read();
      const { config } = context;
      // Clients that find no provider take the reference program's for granted, and then ask for it by name.
      const defaults = { model: config.model, model_provider: config.modelProvider };
      const table = { ...defaults, ...mergeLayers(read) };
      if (isHostUser(connection.meta.principal)) {
        const layers = includeLayers ? [...read] : null;
        return reply({ config: readable(table), origins: originsOf(read), layers });
      }
      reply({ config: readable(withoutSecrets(table)), origins: {}, layers: null });
    },

    async "config/value/write"({ keyPath, value, mergeStrategy, ...where }, { reply }) {
      reply(await write({ edits: [{ keyPath, value, mergeStrategy }], ...where }));
    },

    async "config/batchWrite"({ edits, expectedVersion, filePath }, { reply }) {
      reply(await write({ edits, expectedVersion, filePath }));
    },

    // Nobody manages this host from above: nothing is required of its configuration.
    "configRequirements/read"(_params, { reply }) {
      reply({ requirements: null, supportsIndependentSpeedModes: false });
    },
  };
}

type Config = Result<"config/read">["config"];

/** What clients read without looking whether it is there. */
const NOTHING_SET: Config = {
  model: null,
  review_model: null,
  model_context_window: null,
  model_auto_compact_token_limit: null,
  model_auto_compact_token_limit_scope: null,
  model_provider: null,
  approval_policy: null,
  approvals_reviewer: null,
  sandbox_mode: null,
  sandbox_workspace_write: null,
  forced_chatgpt_workspace_id: null,
  forced_login_method: null,
  web_search: null,
  tools: null,
  instructions: null,
  developer_instructions: null,
  compact_prompt: null,
  model_reasoning_effort: null,
  model_reasoning_summary: null,
  model_verbosity: null,
  service_tier: null,
  analytics: null,
  apps: null,
  browser_use: null,
  computer_use: null,
  desktop: null,
  model_providers: {},
  mcp_servers: {},
  profiles: {},
  features: {},
};

/**
 * What everyone may know. Tables are of providers and servers, with their headers, tokens and environments, or of what
 * we know nothing about; clients need none of them to run.
 */
function withoutSecrets(table: Table): Table {
  const known = Object.keys(NOTHING_SET).map((key): [string, unknown] => [key, table[key]]);
  return Object.fromEntries(known.filter(([, value]) => value !== undefined && typeof value !== "object"));
}

/**
 * The table in the form that clients decode. They give up on the whole of it when one value has another form, and
 * config.toml may hold anything under keys that are not ours: such a value is told as not set.
 */
function readable(table: Table): Config {
  const config: Config = { ...structuredClone(NOTHING_SET), ...structuredClone(table) };
  const write = config["sandbox_workspace_write"] as unknown;
  if (isTable(write)) {
    config.sandbox_workspace_write = {
      writable_roots: [],
      network_access: false,
      exclude_tmpdir_env_var: false,
      exclude_slash_tmp: false,
      ...(write as object),
    };
  }
  for (const _ of Object.keys(config)) {
    // A copy: the check drops what the schema does not name.
    const reply = structuredClone({ config, origins: {}, layers: null });
    const wrong = check(methods["config/read"].result, reply, { experimental: true, method: "config/read" });
    const key = wrong?.kind === "invalid" ? /^config\.([^.[]+)/.exec(wrong.path)?.[1] : undefined;
    if (key === undefined) break;
    config[key] = null;
  }
  return config;
}
