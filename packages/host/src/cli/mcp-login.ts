import { LoginError } from "../oauth/login-error.ts";
import type { McpServerSettings } from "../tool/mcp/mcp-server-settings.ts";
import type { ClientRegistration } from "../tool/mcp/oauth/authorization-request.ts";
import { loginByPastedUrl } from "./login-by-pasted-url.ts";
import type { LoginOptions } from "./mcp-command.ts";
import { findServer, LOCAL, type McpContext, openMcpContext } from "./mcp-context.ts";
import { openBrowser } from "./open-browser.ts";
import { escapeControls, Output } from "./terminal-output.ts";

/** Logs in to a server. Resolves with the exit code. */
export async function loginTo(
  name: string,
  options: LoginOptions & { readonly config?: readonly string[] },
): Promise<number> {
  const context = await openMcpContext(options.config);
  const server = findServer(context, name);
  if (server === undefined) return 1;
  const { scopes = null, browser = true, oauthClientRegistration: registration = "auto" } = options;
  return performLogin(context, server, { scopes, registration, browser });
}

/** Deletes a stored login and revokes it at the server. Resolves with the exit code. */
export async function logoutFrom(name: string, overrides?: readonly string[]): Promise<number> {
  const stdout = new Output(process.stdout);
  const context = await openMcpContext(overrides);
  const server = findServer(context, name);
  if (server === undefined) return 1;
  const outcome = await context.oauth.logout(server, LOCAL);
  await context.oauth.close();
  const words: Record<typeof outcome, string> = {
    none: `Nobody was logged in to ${name}.`,
    loggedOut: `Logged out of ${name}. The login was deleted here, but could not be revoked at the server.`,
    revoked: `Logged out of ${name}.`,
  };
  stdout.line(words[outcome]);
  await stdout.flushed();
  return 0;
}

/** Interval of a timer that does nothing but keep the process alive while it waits for the browser. */
const AWAKE_MS = 60_000;

/** Performs the OAuth login with the user's browser. Resolves with the exit code. */
export async function performLogin(
  { oauth }: McpContext,
  server: McpServerSettings,
  wishes: {
    readonly scopes: readonly string[] | null;
    readonly registration: ClientRegistration;
    readonly browser: boolean;
  },
): Promise<number> {
  const stdout = new Output(process.stdout);
  const awake = setInterval(() => {}, AWAKE_MS);
  try {
    const attempt = await oauth.login(server, LOCAL, wishes);
    const address = escapeControls(attempt.authorizationUrl);
    stdout.line(`\nTo log in to ${server.name}, open this address:\n\n  ${address}\n`);
    if (!wishes.browser) await loginByPastedUrl(attempt, stdout);
    else {
      const isOpen = await openBrowser(attempt.authorizationUrl);
      stdout.line(isOpen ? "Waiting for your browser …" : "No browser could be opened; waiting for yours …");
      await attempt.done;
    }
    stdout.line(stdout.green(`Logged in to ${server.name}.`));
    await stdout.flushed();
    return 0;
  } catch (cause) {
    if (!(cause instanceof LoginError)) throw cause;
    process.stderr.write(`bobbin: Cannot log in to ${server.name}: ${escapeControls(cause.message)}\n`);
    return 1;
  } finally {
    clearInterval(awake);
    await oauth.close();
  }
}
