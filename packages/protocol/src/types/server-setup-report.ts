import { array, boolean, enumeration, nullable, object, type Static, string } from "../schema-language.ts";

/** Where the key of a provider comes from. The key itself is never sent. */
export const ProviderKeySource = enumeration("ProviderKeySource", [
  "notNeeded",
  "missing",
  "environment",
  "config",
  "stored",
]);
export type ProviderKeySource = Static<typeof ProviderKeySource>;

export const CredentialStorage = enumeration("CredentialStorage", ["keyring", "file", "memory"]);
export type CredentialStorage = Static<typeof CredentialStorage>;

export const ModelProviderSetup = object("ModelProviderSetup", () => ({
  id: string(),
  name: string(),
  isDefault: boolean(),
  key: ProviderKeySource,
  /** The environment variable that has the key, or may have it. */
  variable: nullable(string()),
  /** Where a stored key is kept. */
  storedIn: nullable(CredentialStorage),
}));
export type ModelProviderSetup = Static<typeof ModelProviderSetup>;

export const SandboxSetup = object("SandboxSetup", () => ({
  /** The program that confines commands on this system; null if there is none. */
  name: nullable(string()),
  /** Why it cannot be used; null if it can. */
  problem: nullable(string()),
  /** What to do about the problem. */
  advice: nullable(string()),
}));
export type SandboxSetup = Static<typeof SandboxSetup>;

export const ServerSetupReadParams = object("ServerSetupReadParams", () => ({}));
export type ServerSetupReadParams = Static<typeof ServerSetupReadParams>;

export const ServerSetupReadResponse = object("ServerSetupReadResponse", () => ({
  providers: array(ModelProviderSetup),
  sandbox: SandboxSetup,
  /** Sentences about configuration files that cannot be used, and about unknown keys in them. */
  configWarnings: array(string()),
}));
export type ServerSetupReadResponse = Static<typeof ServerSetupReadResponse>;
