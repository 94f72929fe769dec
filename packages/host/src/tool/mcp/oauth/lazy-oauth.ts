import type { McpAuthStatus } from "@bobbin/protocol";
import type { LoginAttempt } from "../../../oauth/login-attempt.ts";
import type { McpAuth } from "../mcp-interface.ts";
import type { McpServerSettings } from "../mcp-server-settings.ts";
import { loginAdvice } from "./login-advice.ts";
import type { McpOAuth } from "./mcp-oauth.ts";

/** OAuth logins to MCP servers. The code is loaded for the first server with a URL. */
export class LazyOAuth implements McpAuth {
  readonly #make: () => Promise<McpOAuth>;
  #making: Promise<McpOAuth> | undefined;
  #isClosed = false;

  constructor(make: () => Promise<McpOAuth>) {
    this.#make = make;
  }

  async token(...args: Parameters<McpAuth["token"]>): Promise<string | undefined> {
    return (await this.#oauth()).token(...args);
  }

  async refused(...args: Parameters<McpAuth["refused"]>): Promise<string | undefined> {
    return (await this.#oauth()).refused(...args);
  }

  async status(...args: Parameters<McpAuth["status"]>): Promise<McpAuthStatus> {
    return (await this.#oauth()).status(...args);
  }

  advice({ name }: McpServerSettings): string {
    return loginAdvice(name);
  }

  async login(...args: Parameters<McpOAuth["login"]>): Promise<LoginAttempt> {
    return (await this.#oauth()).login(...args);
  }

  async secretValues(servers: readonly McpServerSettings[], owner: string): Promise<readonly string[]> {
    if (servers.every(({ transport }) => transport.kind === "stdio")) return [];
    return (await this.#oauth()).secretValues(servers, owner);
  }

  /** Ends the logins that wait for a user. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#making)?.close();
  }

  #oauth(): Promise<McpOAuth> {
    this.#making ??= this.#make().then(async (oauth) => {
      if (this.#isClosed) await oauth.close();
      return oauth;
    });
    return this.#making;
  }
}
