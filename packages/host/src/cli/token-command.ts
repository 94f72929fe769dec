import type { Command } from "commander";

export interface NewSecretOptions {
  readonly out?: string;
  readonly json?: boolean;
}

export interface SignOptions {
  readonly secretFile: string;
  readonly sub?: string;
  readonly hostUser?: boolean;
  readonly expiresIn: string;
  readonly issuer?: string;
  readonly audience?: string;
}

/** Declares `bobbin token`, which creates the tokens that authenticate WebSocket clients. */
export function addToken(bobbin: Command): void {
  const token = bobbin
    .command("token")
    .description("Create tokens that authenticate WebSocket clients.")
    .addHelpText("after", NOTES);
  token
    .command("capability")
    .description("Create a capability token, for app-server --ws-token-file.")
    .option("-o, --out <path>", "write it to this new file, readable only by you, instead of stdout")
    .option("--json", "print it as JSON, with its SHA-256 for app-server --ws-token-sha256")
    .action(async (options: NewSecretOptions) => {
      const { makeCapability } = await import("./token.ts");
      process.exitCode = await makeCapability(options);
    });
  token
    .command("secret")
    .description("Create a secret that signs tokens, for app-server --ws-shared-secret-file.")
    .option("-o, --out <path>", "write it to this new file, readable only by you, instead of stdout")
    .action(async (options: NewSecretOptions) => {
      const { makeSecret } = await import("./token.ts");
      process.exitCode = await makeSecret(options);
    });
  token
    .command("sign")
    .description("Create a token, signed with the secret in a file.")
    .requiredOption("--secret-file <path>", "the file passed to app-server --ws-shared-secret-file")
    .option("--sub <subject>", "the subject that the token names: the user whose threads the client may use")
    .option("--host-user", "name no subject: the client acts as the host's own user, who may do everything")
    .option("--expires-in <time>", "how long the token is valid, for example 90s, 30m, 12h or 7d", "1h")
    .option("--issuer <issuer>", "the issuer to name, if the host runs with --ws-issuer")
    .option("--audience <audience>", "the audience to name, if the host runs with --ws-audience")
    .action(async (options: SignOptions) => {
      const { signToken } = await import("./token.ts");
      process.exitCode = await signToken(options);
    });
}

const NOTES = `
Clients send a token as "Authorization: Bearer TOKEN". See docs/security.md for
what each kind may do.

Examples:
  bobbin token capability --out /etc/bobbin/token
  bobbin app-server --listen ws://0.0.0.0:4545 \\
    --ws-auth capability-token --ws-token-file /etc/bobbin/token

  bobbin token secret --out /etc/bobbin/secret
  bobbin token sign --secret-file /etc/bobbin/secret --sub ann --expires-in 12h
`;
