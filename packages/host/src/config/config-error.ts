/** Something in config.toml or `-c` that can not be used; the message names the key. */
export class ConfigError extends Error {
  readonly code = "badConfig";
}
