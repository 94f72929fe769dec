import { Option } from "commander";

/** The option `-p NAME`: values of the home's NAME.config.toml override those of config.toml. */
export function profileOption(): Option {
  return new Option("-p, --profile <name>", "let the home's NAME.config.toml override config.toml");
}
