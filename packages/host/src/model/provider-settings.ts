/** The configuration of a provider that is reached over HTTP. */
export interface ProviderSettings {
  readonly id: string;
  readonly name: string;
  readonly wire: "responses" | "chat" | "messages";
  readonly baseUrl: string;
  /** Models that are known from the configuration; the first is the default. */
  readonly models: readonly string[];
  /** The environment variable that contains the key, and the advice for users if it is not set. */
  readonly envKey: string | null;
  readonly envKeyInstructions: string | null;
  /** Whether the user configured `env_key`. Then the variable takes precedence over a stored key. */
  readonly envKeyFirst: boolean;
  /** A key from the configuration itself. */
  readonly bearerToken: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** Headers whose values are in environment variables; headers of unset variables are not sent. */
  readonly envHeaders: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly requestMaxRetries: number;
  readonly streamMaxRetries: number;
  readonly streamIdleTimeoutMs: number;
  readonly requiresOpenaiAuth: boolean;
  /** Whether the server runs on this machine and lists its models itself. */
  readonly local: boolean;
}

export type Environment = Readonly<Record<string, string | undefined>>;
