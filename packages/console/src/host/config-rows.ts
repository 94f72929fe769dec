import type { ConfigLayerSource, ConfigReadResponse } from "@bobbin/protocol";

export interface ConfigRow {
  readonly key: string;
  readonly value: string;
  readonly origin: string;
}

/** The keys that are set, with their values and where they come from. */
export function configRows({ config, origins }: ConfigReadResponse): readonly ConfigRow[] {
  const rows: ConfigRow[] = [];
  const walk = (value: unknown, key: string) => {
    if (value === null || value === undefined) return;
    if (typeof value === "object" && !Array.isArray(value)) {
      for (const [name, inner] of Object.entries(value)) walk(inner, key === "" ? name : `${key}.${name}`);
      return;
    }
    rows.push({
      key,
      value: typeof value === "string" ? value : JSON.stringify(value),
      origin: originOf(key, origins),
    });
  };
  walk(config, "");
  return rows.sort((one, other) => one.key.localeCompare(other.key));
}

/** The origin of a key: that of the key itself, of a list's first entry, or of the nearest table around it. */
function originOf(key: string, origins: ConfigReadResponse["origins"]): string {
  const first = origins[`${key}.0`];
  if (first !== undefined) return layerText(first.name);
  for (let name = key; name !== ""; name = name.includes(".") ? name.slice(0, name.lastIndexOf(".")) : "") {
    const found = origins[name];
    if (found !== undefined) return layerText(found.name);
  }
  return "default";
}

export function layerText(source: ConfigLayerSource): string {
  switch (source.type) {
    case "user":
      return source.profile === null ? source.file : `${source.file}, profile ${source.profile}`;
    case "system":
    case "packagedDefaults":
    case "legacyManagedConfigTomlFromFile":
      return source.file;
    case "project":
      return source.dotCodexFolder;
    case "sessionFlags":
      return "flags of the command line";
    case "enterpriseManaged":
      return source.name;
    default:
      return "the system’s administrator";
  }
}
