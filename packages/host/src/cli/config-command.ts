import type { Command } from "commander";
import { profileOption } from "./profile-option.ts";

/** Declares `bobbin config`, which reads and changes config.toml. */
export function addConfig(bobbin: Command): void {
  const config = bobbin
    .command("config")
    .description("Read, change and check the configuration.")
    .addHelpText("after", NOTES);
  config
    .command("get")
    .description("Print the value of a key that applies in this folder.")
    .argument("<key>", "a dotted path, for example sandbox_workspace_write.network_access")
    .addOption(profileOption())
    .option("--json", "print it as JSON")
    .action(async (key: string, options: { json?: boolean }, self: Command) => {
      const { getValue } = await import("./config-print.ts");
      process.exitCode = await getValue(key, { ...options, ...self.optsWithGlobals() });
    });
  config
    .command("set")
    .description("Write a value to config.toml, keeping its comments and order.")
    .argument("<key>", "a dotted path; put a part that contains dots in double quotes")
    .argument("<value>", "a TOML value; anything else is written as a string")
    .option("--force", "write the key even if it is unknown")
    .action(async (key: string, value: string, options: { force?: boolean }) => {
      const { setValue } = await import("./change-config-file.ts");
      process.exitCode = await setValue(key, value, options);
    });
  config
    .command("unset")
    .description("Remove a key, or a table, from config.toml.")
    .argument("<key>", "a dotted path")
    .action(async (key: string) => {
      const { unsetValue } = await import("./change-config-file.ts");
      process.exitCode = await unsetValue(key);
    });
  config
    .command("list")
    .description("Print all values that are set, and where each comes from.")
    .addOption(profileOption())
    .option("--json", "print them as JSON")
    .action(async (options: { json?: boolean }, self: Command) => {
      const { listValues } = await import("./config-print.ts");
      process.exitCode = await listValues({ ...options, ...self.optsWithGlobals() });
    });
  config
    .command("edit")
    .description("Open config.toml in $VISUAL or $EDITOR, then check it.")
    .action(async () => {
      const { editFile } = await import("./change-config-file.ts");
      process.exitCode = await editFile();
    });
  config
    .command("check")
    .description("Check the configuration for invalid values and unknown keys.")
    .addOption(profileOption())
    .action(async (_options, self: Command) => {
      const { checkConfig } = await import("./config-print.ts");
      process.exitCode = await checkConfig(self.optsWithGlobals());
    });
  config
    .command("schema")
    .description("Print a JSON Schema of config.toml, for editors.")
    .action(async () => {
      const { printSchema } = await import("./config-print.ts");
      process.exitCode = await printSchema();
    });
}

const NOTES = `
Running hosts apply a change to the next thread that they load.
docs/configuration.md lists the keys that need a restart of the host.

Exit code: 1 if a key is not set, a value cannot be written, or the check finds
a problem; otherwise 0.

Examples:
  bobbin config set model_provider anthropic
  bobbin config set sandbox_workspace_write.network_access true
  bobbin config list
  bobbin config schema > ~/.bobbin/config.schema.json
                               (then put #:schema ./config.schema.json on top)
`;
