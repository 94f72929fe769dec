import { homedir } from "node:os";
import { join } from "node:path";
import { type Auth, bearer, noAuth, type ToolServer, type ToolServerData } from "@bobbin/rap";
import { folderData } from "@bobbin/rap/node";

/** Options of an example's tool server that come from environment variables. */
export interface ExampleEnvironment {
  readonly auth: Auth;
  readonly data: ToolServerData;
  readonly folder: string;
}

/** Serves until SIGINT or SIGTERM. Prints the lines for the host's config.toml. */
export async function start(
  name: string,
  port: number,
  make: (environment: ExampleEnvironment) => ToolServer,
): Promise<void> {
  const { RAP_TOKEN, RAP_DATA, PORT } = process.env;
  const folder = RAP_DATA ?? join(homedir(), ".bobbin-examples", name);
  const server = make({ auth: RAP_TOKEN ? bearer(RAP_TOKEN) : noAuth, data: folderData(folder), folder });
  const serving = await server.serve({ port: PORT === undefined ? port : Number(PORT) }).catch((cause) => {
    if (cause.code !== "EADDRINUSE") throw cause;
    throw new Error(`port ${PORT ?? port} is in use; set PORT to another one`, { cause });
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void serving.close().then(() => process.exit(0)));
  const lines = [
    `listening on ${serving.url}, storing data in ${folder}`,
    "in the host's config.toml:",
    `  [rap_servers.${name}]`,
    `  url = "${serving.url}"`,
    ...(RAP_TOKEN ? ['  bearer_token_env_var = "RAP_TOKEN"'] : []),
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
}
