import { type Command, Option } from "commander";

const WS_AUTH = ["capability-token", "signed-bearer-token"];

export function addAppServer(bobbin: Command): void {
  const command = bobbin
    .command("app-server")
    .description("Serve clients: IDEs, desktop apps, bots, web pages.")
    .addOption(
      new Option(
        "--listen <url>",
        "where to listen: stdio://, unix://, unix://PATH or ws://IP:PORT; repeat it for several; off opens none (default: stdio://)",
      ).argParser((value: string, all: string[] | undefined) => [...(all ?? []), value]),
    )
    .option("--stdio", "listen on stdin and stdout, as --listen stdio:// does")
    .addOption(new Option("--ws-auth <mode>", "how WebSocket clients prove who they are").choices(WS_AUTH))
    .option("--ws-token-file <path>", "file with the capability token (absolute path)")
    .option("--ws-token-sha256 <hex>", "SHA-256 of the capability token, instead of the file")
    .option("--ws-shared-secret-file <path>", "file with the secret that signs bearer tokens (HS256)")
    .option("--ws-issuer <issuer>", "issuer that signed tokens must name")
    .option("--ws-audience <audience>", "audience that signed tokens must name")
    .option(
      "--ws-max-clock-skew-seconds <seconds>",
      "how far the clock of a token's issuer may be off (default: 30)",
    )
    .addOption(
      new Option("--allow-origin <origin>", "origin of web pages that may connect; repeat it for several")
        .argParser((value: string, all: string[] | undefined) => [...(all ?? []), value])
        .default(undefined),
    )
    .addHelpText("after", EXAMPLES)
    .action(async (options, self: Command) => {
      const { appServer } = await import("./run-app-server.ts");
      const { config = [] } = self.optsWithGlobals<{ config?: readonly string[] }>();
      await appServer({ ...options, config: [...config, ...features(options)] });
    });
  // Flags that clients pass to the reference program; they change nothing here.
  for (const flag of ["--analytics-default-enabled", "--strict-config"]) {
    command.addOption(new Option(flag).hideHelp());
  }
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

/** As `-c` says it. */
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
      const { generate } = await import("./generate.ts");
      await generate(name, options.out, options.experimental ?? false);
    });
}

const EXAMPLES = `
Examples:
  bobbin app-server --listen ws://127.0.0.1:4545 --listen unix://
  bobbin app-server --listen ws://0.0.0.0:4545 --ws-auth capability-token --ws-token-file /etc/bobbin/token
  bobbin app-server -c model_provider=offline
  bobbin app-server generate-json-schema --out schema --experimental
`;
