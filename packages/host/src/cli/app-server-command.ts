import { type Command, Option } from "commander";
import { profileOption } from "./profile-option.ts";

const WS_AUTH = ["capability-token", "signed-bearer-token"];

export function addAppServer(bobbin: Command): void {
  const command = bobbin
    .command("app-server")
    .description("Serve clients: IDEs, desktop apps, bots, web pages.")
    .addOption(
      new Option(
        "--listen <url>",
        "address to listen on: stdio://, unix://, unix://PATH or ws://IP:PORT; repeat for several; off adds none (default: stdio://)",
      ).argParser((value: string, all: string[] | undefined) => [...(all ?? []), value]),
    )
    .option("--stdio", "listen on stdin and stdout, as --listen stdio:// does")
    .addOption(new Option("--ws-auth <mode>", "how WebSocket clients authenticate").choices(WS_AUTH))
    .addOption(profileOption())
    .option("--ws-token-file <path>", "file with the capability token (absolute path)")
    .option(
      "--ws-token-sha256 <hex>",
      "SHA-256 of a token of bobbin token capability, instead of the file; a weak token is not noticed",
    )
    .option("--ws-shared-secret-file <path>", "file with the secret that signs bearer tokens (HS256)")
    .option("--ws-issuer <issuer>", "issuer that signed tokens must name")
    .option("--ws-audience <audience>", "audience that signed tokens must name")
    .option(
      "--ws-max-clock-skew-seconds <seconds>",
      "allowed difference between the issuer's clock and this one (default: 30)",
    )
    .addOption(
      new Option("--allow-origin <origin>", "web origin whose pages may connect; repeat for several")
        .argParser((value: string, all: string[] | undefined) => [...(all ?? []), value])
        .default(undefined),
    )
    .option("--strict-config", "do not start if the configuration has unknown keys or invalid values")
    .addHelpText("after", EXAMPLES)
    .action(async (options, self: Command) => {
      const { appServer } = await import("./app-server.ts");
      const { config = [] } = self.optsWithGlobals<{ config?: readonly string[] }>();
      await appServer({ ...options, config: [...config, ...features(options)] });
    });
  // Accepted and ignored: clients that start the Codex CLI pass this flag.
  command.addOption(new Option("--analytics-default-enabled").hideHelp());
  for (const [flag, value] of [
    ["--enable", "true"],
    ["--disable", "false"],
  ]) {
    command.addOption(
      new Option(`${flag} <feature>`, `the same as -c features.<feature>=${value}`)
        .argParser((feature: string, all: string[] | undefined) => [...(all ?? []), feature])
        .hideHelp(),
    );
  }
  addGenerate(command, "generate-json-schema", "Write the protocol's JSON Schema.");
  addGenerate(command, "generate-ts", "Write the protocol's TypeScript types.");
}

interface FeatureFlags {
  readonly enable?: readonly string[];
  readonly disable?: readonly string[];
}

/** Converts `--enable` and `--disable` into `-c` overrides. */
function features({ enable = [], disable = [] }: FeatureFlags): readonly string[] {
  return [
    ...enable.map((feature) => `features.${feature}=true`),
    ...disable.map((feature) => `features.${feature}=false`),
  ];
}

function addGenerate(appServer: Command, name: string, description: string): void {
  appServer
    .command(name)
    .description(description)
    .requiredOption("-o, --out <dir>", "folder to write to; created if it does not exist")
    .option("--experimental", "include experimental methods and fields")
    .action(async (options: { out: string; experimental?: boolean }) => {
      const { generate } = await import("./generate-protocol-files.ts");
      await generate(name, options.out, options.experimental ?? false);
    });
}

const EXAMPLES = `
Examples:
  bobbin app-server --listen ws://127.0.0.1:4545 --listen unix://
  bobbin app-server --listen ws://0.0.0.0:4545 \\
    --ws-auth capability-token --ws-token-file /etc/bobbin/token
  bobbin app-server -c model_provider=offline
  bobbin app-server generate-json-schema --out schema --experimental
`;
