import type { LayeredConfig } from "../../config/layered-config.ts";
import { readMcpServers } from "../../config/mcp-servers.ts";
import { fault, messageOf } from "../../errors.ts";
import type { LoginAttempt } from "../../oauth/login-attempt.ts";
import { LoginError } from "../../oauth/login-error.ts";
import type { McpScope } from "../../tool/mcp/lookup-scope.ts";
import type { McpServerSettings } from "../../tool/mcp/mcp-server-settings.ts";
import type { HandlerContext } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";
import { isHostUser } from "../host-user-check.ts";
import { mcpScope } from "./mcp-servers.ts";

/**
 * Handlers of OAuth logins to MCP servers. The reply contains the URL for a browser; a notification reports the
 * outcome.
 */
export function mcpLoginHandlers(context: HandlerContext, layers: LayeredConfig): MethodHandlers {
  const { mcp, mcpOAuth, platform, supervisor } = context;

  /** Finds a server by its name, also one that `mcp add` has written since the host started. */
  const find = async (
    scope: McpScope,
    name: string,
    isUser: boolean,
  ): Promise<McpServerSettings | undefined> => {
    const isIt = (server: McpServerSettings): boolean => server.name === name;
    const found = (await mcp.configured(scope)).find(isIt);
    if (found !== undefined || scope.threadId !== null || !isUser) return found;
    return readMcpServers(await layers.merged()).servers.find(isIt);
  };

  const outcome = async (attempt: LoginAttempt, server: McpServerSettings): Promise<string | undefined> => {
    try {
      await attempt.done;
      return undefined;
    } catch (cause) {
      // Other errors, for example a full disk, are problems of the host and are logged.
      if (!(cause instanceof LoginError))
        supervisor.report(`logging in to the MCP server ${server.name}`, cause);
      return messageOf(cause);
    }
  };

  return {
    async "mcpServer/oauth/login"(params, { connection, reply }) {
      const { name, scopes = null, timeoutSecs, clientRegistration, threadId = null } = params;
      const scope = await mcpScope(context, connection, threadId);
      const isUser = isHostUser(connection.meta.principal);
      const server = await find(scope, name, isUser);
      if (server === undefined) throw fault("mcpLoginServerNotFound", name);
      // A login to a configured server would apply to all owners.
      if (!isUser && server.origin !== "thread") throw fault("notPermitted", "mcpServer/oauth/login");
      if (server.transport.kind === "stdio") throw fault("mcpLoginUnsupported");
      const attempt = await mcpOAuth
        .login(server, scope.owner, {
          scopes,
          registration: clientRegistration ?? "auto",
          timeoutMs: timeoutSecs == null ? undefined : timeoutSecs * 1000,
        })
        .catch((cause: unknown) => {
          if (!(cause instanceof LoginError)) throw cause;
          throw fault("mcpLoginFailed", name, cause.message);
        });
      const loginId = platform.ids.uuid();
      const ended = outcome(attempt, server).then((error) => {
        const success = error === undefined;
        if (success) mcp.authChanged(scope.owner, server);
        context.notify(scope.owner, "mcpServer/oauthLogin/completed", {
          name,
          threadId: threadId ?? null,
          loginId,
          success,
          ...(!success && { error }),
        });
      });
      supervisor.take("logging in to an MCP server", ended);
      reply({ authorizationUrl: attempt.authorizationUrl, loginId });
    },
  };
}
