/** Number of values in the large config.toml. */
export const ENTRIES = 200;

/** TOML text with `count` values: model providers and trusted folders, as in a config.toml that has grown over time. */
export function manyEntries(count = ENTRIES) {
  const providers = Array.from({ length: count / 8 }, (_, nth) => {
    const values = [
      `name = "Provider ${nth}"`,
      `base_url = "http://127.0.0.1:9/${nth}/v1"`,
      'wire_api = "responses"',
      "request_max_retries = 3",
    ];
    return `[model_providers.many-${nth}]\n${values.join("\n")}\n`;
  });
  const folders = Array.from(
    { length: count / 2 },
    (_, nth) => `[projects."/srv/folder-${nth}"]\ntrust_level = "trusted"\n`,
  );
  return `\n${[...providers, ...folders].join("\n")}`;
}

/** Options of a home directory with the large config.toml. */
export const manyEntriesHome = { modelUrl: "http://127.0.0.1:9/v1", config: manyEntries() };
