/** An invalid value in config.toml or `-c`. The message names the key. */
export class ConfigError extends Error {
  readonly code = "badConfig";
}
