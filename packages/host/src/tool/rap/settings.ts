import { join } from "node:path";

/** What is configured of tool servers in all. */
export interface RapSettings {
  /** Where tool servers post back; port 0 is chosen once and kept. */
  readonly callbackListen: { readonly host: string; readonly port: number };
  /** How they reach that from where they are; null: as it is. */
  readonly callbackPublicUrl: string | null;
  readonly servers: readonly ToolServerSettings[];
}

/** One tool server. */
export interface ToolServerSettings {
  readonly name: string;
  /** The base URL. */
  readonly url: string;
  readonly bearerTokenEnvVar: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly allowedOrigins: readonly string[];
  /** Which calls the user is asked for: configuring a server is consent to the others. */
  readonly approval: "destructive" | "always";
  /** How long a call may take before the model is told that it failed; null: as long as it takes. */
  readonly callDeadlineSecs: number | null;
}

/** The servers of one thread. */
export interface ThreadServers {
  /** Those whose tools it has. */
  readonly used: readonly ToolServerSettings[];
  /** Those that are told when it is closed, and of calls that nobody waits for any more: all that are known. */
  readonly told: readonly ToolServerSettings[];
}

/** Where a home keeps by what its callback URLs are known; it is there if there ever were any. */
export function callbacksFile(home: string): string {
  return join(home, "rap_callbacks.json");
}
