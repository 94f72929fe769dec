import type { Platform } from "../platform/platform.ts";
import type { CredentialTexts } from "../store/credential-text-store.ts";
import type { CredentialStore, CredentialStoreMode } from "./credential-store.ts";
import { Seals } from "./journal-secret-sealing.ts";
import { KeyringKeys } from "./keyring-keys.ts";
import { SealedCredentialStore } from "./sealed-credential-store.ts";

/** Storage mode for each use of credentials. */
export interface CredentialSettings {
  /** Mode for the account, the API keys of providers, and the key of `Seals`. */
  readonly account: CredentialStoreMode;
  /** Mode for logins to MCP servers. */
  readonly mcp: CredentialStoreMode;
}

export interface CredentialParts {
  readonly home: string;
  readonly platform: Platform;
  readonly texts: CredentialTexts;
  /** The current settings. */
  settings(): CredentialSettings;
  /** Called once if credentials are stored in plain files because the keyring is unavailable. */
  fellBack?(why: string): void;
  /** Supervises background work. */
  background?(what: string, work: Promise<void>): void;
}

/** The credential stores of a home, by use. */
export interface Credentials {
  readonly account: CredentialStore;
  readonly mcp: CredentialStore;
  readonly seals: Seals;
  readonly keys: KeyringKeys;
}

export function openCredentials({ home, platform, texts, settings, ...parts }: CredentialParts): Credentials {
  const keys = new KeyringKeys(home, platform);
  let hasFallenBack = false;
  const ports = {
    texts,
    keys,
    ...(parts.background !== undefined && { background: parts.background }),
    fellBack(why: string) {
      if (!hasFallenBack) parts.fellBack?.(why);
      hasFallenBack = true;
    },
  };
  const store = (mode: () => CredentialStoreMode): CredentialStore =>
    new SealedCredentialStore({ ...ports, mode });
  const account = (): CredentialStoreMode => settings().account;
  // The key of `Seals` must outlive this process, because journals do.
  const lasting = (): CredentialStoreMode => (account() === "ephemeral" ? "auto" : account());
  const seals = new Seals({
    store: store(lasting),
    // The spare key is used while the keyring is unavailable, so it is stored in a plain file in the mode `auto`.
    spare: store(() => (lasting() === "auto" ? "file" : lasting())),
    ids: platform.ids,
  });
  return { account: store(account), mcp: store(() => settings().mcp), seals, keys };
}
