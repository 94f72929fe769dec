/** What there is to know about a provider that speaks over HTTP. */
export interface ProviderSettings {
  readonly id: string;
  readonly name: string;
  readonly wire: "responses" | "chat" | "messages";
  readonly baseUrl: string;
  /** Those that are known without asking; the first one is asked if nobody says which. */
  readonly models: readonly string[];
  /** The environment variable that holds the key, and what to tell people who lack it. */
  readonly envKey: string | null;
  readonly envKeyInstructions: string | null;
  /** A key that stands in the configuration itself. */
  readonly bearerToken: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** Headers whose values are in environment variables; those that are not set are not sent. */
  readonly envHeaders: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly requestMaxRetries: number;
  readonly streamMaxRetries: number;
  readonly streamIdleTimeoutMs: number;
  readonly requiresOpenaiAuth: boolean;
  /** It runs on this machine and says itself which models it has. */
  readonly local: boolean;
}

export type Environment = Readonly<Record<string, string | undefined>>;
