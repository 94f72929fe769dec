import { resolve } from "node:path";
import { check, methods, type Result } from "@bobbin/protocol";
import { Encoded } from "@bobbin/rpc";
import { type ConfigEditBatch, ConfigWriter } from "../../config/edit/config-writer.ts";
import { mergeTables } from "../../config/layer.ts";
import {
  type ConfigSnapshot,
  isTable,
  type LayeredConfig,
  mergeLayers,
  originsOf,
  type Table,
} from "../../config/layered-config.ts";
import { trustedFiles } from "../../config/project-layers.ts";
import { managedKey, withManaged } from "../../config/requirements.ts";
import { requirementsView } from "../../config/requirements-view.ts";
import type { Projects } from "../../tool/consent/project-rules.ts";
import { projectKey } from "../../tool/consent/project-trust-lookup.ts";
import { type HandlerContext, reachOf } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";
import { isHostUser } from "../host-user-check.ts";
import { modelProviderHandlers } from "./model-providers.ts";

/** Handlers that read and write the configuration. */
export function configHandlers(context: HandlerContext, layers: LayeredConfig): MethodHandlers {
  const writer = new ConfigWriter(context.platform, layers);
  /**
   * Applies the written configuration, then the merged configuration of all files, because managed values override
   * the written ones.
   */
  const apply = async (written: HandlerContext["config"]): Promise<void> => {
    context.configure(written);
    await context.configs.load();
  };
  const write = async (edits: ConfigEditBatch): Promise<Result<"config/value/write">> => {
    const before = context.config.projects;
    const { reply, config } = await writer.write(edits);
    await apply(config);
    const pins = await pinnedFiles(before, config.projects);
    if (pins.length === 0) return reply;
    const pinned = await writer.write({ edits: pins });
    await apply(pinned.config);
    return { ...reply, version: pinned.reply.version };
  };
  /**
   * Edits that pin each project that was just marked as trusted: they store the digests of its current rules and
   * configuration files.
   */
  const pinnedFiles = async (before: Projects, after: Projects): Promise<ConfigEditBatch["edits"]> => {
    const edits: ConfigEditBatch["edits"][number][] = [];
    const pin = (keyPath: string, value: unknown) => edits.push({ keyPath, value, mergeStrategy: "replace" });
    for (const [root, { level, rules, files }] of after) {
      if (level !== "trusted" || before.get(root)?.level === "trusted") continue;
      const { project } = await context.rules.load(root);
      if (project?.root !== root) continue;
      if (rules === null && project.digest !== null) pin(`${projectKey(root)}.trusted_rules`, project.digest);
      const digests = files === undefined ? trustedFiles(root, await layers.read(root)) : {};
      if (Object.keys(digests).length > 0) pin(`${projectKey(root)}.trusted_files`, digests);
    }
    return edits;
  };
  const answers = new ConfigAnswers();
  return {
    ...modelProviderHandlers(context, layers, write),

    async "config/read"({ includeLayers, cwd }, { connection, reply }) {
      const isHost = isHostUser(connection.meta.principal);
      const { cwd: usual } = reachOf(context, connection);
      const snapshot = await layers.snapshot(isHost && cwd != null ? resolve(usual, cwd) : undefined);
      const { model, modelProvider } = context.config;
      // The reply names the provider, because a client that finds none assumes the Codex CLI's default and asks for
      // it by name.
      const defaults = { model, model_provider: modelProvider, features: context.configs.switched };
      const view = isHost ? (includeLayers ? "layers" : "values") : "public";
      reply(answers.of(snapshot, view, defaults));
    },

    async "config/value/write"({ keyPath, value, mergeStrategy, ...where }, { reply }) {
      reply(await write({ edits: [{ keyPath, value, mergeStrategy }], ...where }));
    },

    async "config/batchWrite"({ edits, expectedVersion, filePath, reloadUserConfig }, { reply }) {
      const written = await write({ edits, expectedVersion, filePath });
      // MCP servers are reloaded at once. A loaded thread keeps its model and sandbox until its next load.
      if (reloadUserConfig === true) context.mcp.reload();
      reply(written);
    },

    async "configRequirements/read"(_params, { reply }) {
      const { required } = await layers.snapshot();
      reply({ requirements: requirementsView(required.requirements), supportsIndependentSpeedModes: false });
    },
  };
}

type Config = Result<"config/read">["config"];
type Answer = Encoded<Result<"config/read">>;
/** The parts of a reply: values and layers, values only, or public values only. */
type View = "layers" | "values" | "public";

/** Caches replies to `config/read`: most clients ask for the same values, and these rarely change. */
class ConfigAnswers {
  readonly #answers = new WeakMap<ConfigSnapshot, Map<string, Answer>>();

  of(snapshot: ConfigSnapshot, view: View, defaults: Table): Answer {
    const known = this.#answers.get(snapshot) ?? new Map<string, Answer>();
    this.#answers.set(snapshot, known);
    const key = JSON.stringify([view, defaults]);
    const answer = known.get(key) ?? Encoded.of(answerOf(snapshot, view, defaults));
    known.set(key, answer);
    return answer;
  }
}

function answerOf(snapshot: ConfigSnapshot, view: View, defaults: Table): Result<"config/read"> {
  const { layers, required } = snapshot;
  const { requirements } = required;
  const table = withManaged(mergeTables(defaults, mergeLayers(layers)), requirements);
  if (view === "public") return { config: decodable(withoutSecrets(table)), origins: {}, layers: null };
  const shown = view === "layers" ? layers.map((layer) => layer.toJSON()) : null;
  // A managed value has no layer.
  const origins = Object.entries(originsOf(layers)).filter(
    ([path]) => managedKey(requirements, path.split(".")) === undefined,
  );
  return { config: decodable(table), origins: Object.fromEntries(origins), layers: shown };
}

/** Keys that clients read without checking that they exist. */
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
  client_search_provider: null,
  computer_use: null,
  desktop: null,
  model_providers: {},
  mcp_servers: {},
  profiles: {},
  features: {},
};

/**
 * The values that every client may see. Tables are left out: they contain headers, tokens and environments of
 * providers and servers, or unknown data. Clients do not need them.
 */
function withoutSecrets(table: Table): Table {
  const known = Object.keys(NOTHING_SET).map((key): [string, unknown] => [key, table[key]]);
  return Object.fromEntries(known.filter(([, value]) => value !== undefined && typeof value !== "object"));
}

/**
 * The configuration as clients can decode it. A client rejects the whole reply if one value has an unexpected type,
 * and config.toml may contain anything under unknown keys. A value of an unexpected type is sent as null.
 */
function decodable(table: Table): Config {
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
    // Checks a copy, because the check removes fields that are not in the schema.
    const reply = structuredClone({ config, origins: {}, layers: null });
    const wrong = check(methods["config/read"].result, reply, { experimental: true, method: "config/read" });
    const key = wrong?.kind === "invalid" ? /^config\.([^.[]+)/.exec(wrong.path)?.[1] : undefined;
    if (key === undefined) break;
    config[key] = null;
  }
  return config;
}
