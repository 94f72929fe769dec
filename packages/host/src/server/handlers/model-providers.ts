import type { ModelProviderSummary, ProviderSettingsPatch } from "@bobbin/protocol";
import { type ConfigEditBatch, refused } from "../../config/edit/config-writer.ts";
import { tomlPath } from "../../config/edit/toml-text.ts";
import { isTable, type LayeredConfig, mergeLayers } from "../../config/layered-config.ts";
import { isBuiltInProvider, OPENAI_URL } from "../../config/model-providers.ts";
import { managedKey } from "../../config/requirements.ts";
import { OFFLINE_MODEL } from "../../model/model.ts";
import type { ProviderSettings } from "../../model/provider-settings.ts";
import type { HandlerContext } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";

type GatewayPatch = Extract<ProviderSettingsPatch, { readonly type: "customGateway" }>;

/** Handlers for the model providers of the configuration. `write`: edits config.toml, and applies it. */
export function modelProviderHandlers(
  context: HandlerContext,
  layers: LayeredConfig,
  write: (edits: ConfigEditBatch) => Promise<unknown>,
): MethodHandlers {
  /** Describes providers by the configuration as it is now. */
  const summaries = async (): Promise<(settings: ProviderSettings) => ModelProviderSummary> => {
    const { layers: read, required } = await layers.snapshot();
    const entries = mergeLayers(read)["model_providers"];
    return (settings) => {
      const { id, name, baseUrl } = settings;
      const entry = isTable(entries) && !isBuiltInProvider(id) ? entries[id] : undefined;
      const isManaged = managedKey(required.requirements, ["model_providers", id]) !== undefined;
      // The usual address of an API is not shown as one that was configured.
      const own = id === "openai" && baseUrl === OPENAI_URL ? null : baseUrl;
      return {
        id,
        name,
        canEdit: isTable(entry) && !isManaged,
        baseUrl: isTable(entry) ? ((entry["base_url"] as string | undefined) ?? null) : own,
        settings: id === "openai" ? { type: "openai" } : { type: "customGateway", auth: authOf(settings) },
      };
    };
  };

  return {
    async "modelProvider/list"(_params, { reply }) {
      const { requirements } = (await layers.snapshot()).required;
      const { modelProviders, modelProvider } = context.config;
      const data = modelProviders.map(await summaries());
      reply({
        data: [...data, OFFLINE].sort((one, other) => (one.id < other.id ? -1 : 1)),
        defaultProviderId: modelProvider,
        canChangeDefault: managedKey(requirements, ["model_provider"]) === undefined,
      });
    },

    async "modelProvider/config/write"({ settings: patch }, { reply }) {
      if (patch.type !== "customGateway")
        throw refused("configValidationError", `Bobbin has no model provider ${patch.providerId}.`);
      const changes = changesOf(patch);
      const { modelProviders } = context.config;
      let id = patch.providerId ?? null;
      let edits: ConfigEditBatch["edits"];
      if (id === null) {
        id = newId(changes, new Set(modelProviders.map((one) => one.id)));
        const value = { ...withoutNulls(changes), wire_api: "responses" };
        edits = [{ keyPath: tomlPath(["model_providers", id]), value, mergeStrategy: "replace" }];
      } else {
        checkKnown(id, modelProviders);
        const current = modelProviders.find((one) => one.id === id)!;
        if ("env_key" in changes && authOf(current).mode === "externallyConfigured")
          throw refused(
            "configValidationError",
            "the provider authenticates by other settings than env_key; leave envKey out to keep them",
          );
        edits = Object.entries(changes).map(([key, value]) => ({
          keyPath: tomlPath(["model_providers", id!, key]),
          value,
          mergeStrategy: "replace",
        }));
      }
      if (edits.length > 0) await write({ edits });
      const summaryOf = await summaries();
      reply({ provider: summaryOf(context.config.modelProviders.find((one) => one.id === id)!) });
    },
  };
}

/** The provider without settings, which needs no network. */
const OFFLINE: ModelProviderSummary = {
  id: OFFLINE_MODEL,
  name: "Offline",
  canEdit: false,
  baseUrl: null,
  settings: { type: "customGateway", auth: { mode: "none" } },
};

/** How requests to the provider authenticate, as far as the configuration says. */
function authOf(
  settings: ProviderSettings,
): Extract<ModelProviderSummary["settings"], { auth: unknown }>["auth"] {
  const { envKey, bearerToken, headers, query, requiresOpenaiAuth, envHeaders } = settings;
  const more = [headers, query, envHeaders].some((table) => Object.keys(table).length > 0);
  if (bearerToken !== null || requiresOpenaiAuth || more) return { mode: "externallyConfigured", envKey };
  return envKey === null ? { mode: "none" } : { mode: "environmentVariable", envKey };
}

interface Changes {
  readonly name?: string;
  readonly base_url?: string | null;
  readonly env_key?: string | null;
}

/** The keys of config.toml that a patch changes. Null removes a key. */
function changesOf({ name, baseUrl, envKey }: GatewayPatch): Changes {
  if (name?.trim() === "") throw refused("configValidationError", "name must not be empty");
  if (envKey != null && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(envKey))
    throw refused(
      "configValidationError",
      "envKey must be the name of an environment variable: letters, digits and _",
    );
  return {
    ...(name !== undefined && { name: name.trim() }),
    ...(baseUrl !== undefined && { base_url: baseUrl === null ? null : address(baseUrl.trim()) }),
    ...(envKey !== undefined && { env_key: envKey }),
  };
}

function address(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url !== undefined && /^https?:$/.test(url.protocol) && !/[?#]/.test(text);
  if (isPlain && url.username === "" && url.password === "") return text;
  throw refused(
    "configValidationError",
    "baseUrl must be an http or https address without credentials, query and fragment",
  );
}

/** An ID for a new provider, made from its name. */
function newId({ name, base_url: url }: Changes, taken: ReadonlySet<string>): string {
  if (name === undefined) throw refused("configValidationError", "name must not be empty");
  if (url == null) throw refused("configValidationError", "baseUrl is required for a new provider");
  const slug =
    name
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, "-")
      .replaceAll(/^-|-$/g, "") || "custom";
  if (isBuiltInProvider(slug))
    throw refused("configValidationError", "a built-in provider has this name; choose another one");
  let id = slug;
  for (let count = 2; taken.has(id); count++) id = `${slug}-${count}`;
  return id;
}

function checkKnown(id: string, providers: readonly ProviderSettings[]): void {
  if (isBuiltInProvider(id))
    throw refused("configValidationError", "providerId names a built-in provider, which cannot be changed");
  if (!providers.some((one) => one.id === id))
    throw refused("configPathNotFound", "config.toml has no provider with this providerId");
}

function withoutNulls(changes: Changes): object {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== null));
}
