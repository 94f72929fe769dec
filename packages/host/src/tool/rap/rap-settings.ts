/** Configuration of RAP for the whole host. */
export interface RapSettings {
  /** The address for callbacks of tool servers. Port 0: any free port, which is then used permanently. */
  readonly callbackListen: { readonly host: string; readonly port: number };
  /** The URL by which tool servers reach that address; null if it is the address itself. */
  readonly callbackPublicUrl: string | null;
  readonly servers: readonly ToolServerSettings[];
}

/** Configuration of one tool server. */
export interface ToolServerSettings {
  readonly name: string;
  readonly url: string;
  readonly bearerTokenEnvVar: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly allowedOrigins: readonly string[];
  /** Which calls need approval. All others are allowed, because the user configured the server. */
  readonly approval: "destructive" | "always";
  /** Time limit for a call, in seconds; null for none. */
  readonly callDeadlineSecs: number | null;
}

/** The tool servers of one thread. */
export interface ThreadToolServers {
  /** Servers whose tools the thread has. */
  readonly used: readonly ToolServerSettings[];
  /** Servers that get notices about the thread (closed, call cancelled): all known servers. */
  readonly notified: readonly ToolServerSettings[];
}

/** The name of the document with the key and the ports of callback URLs. It exists once such a URL was issued. */
export const CALLBACKS = "rap_callbacks";
