import type { CredentialStoreMode } from "./credential-store.ts";
import type { KeyringKeys } from "./keyring-keys.ts";

/** Where new credentials are stored. */
export interface CredentialLocation {
  readonly store: "keyring" | "file" | "memory";
  /** The location, in words that complete a sentence. */
  readonly words: string;
  /** Why credentials cannot be stored; null if they can. */
  readonly problem: string | null;
}

/**
 * Determines where new credentials are stored. `folder`: the folder for credential files. In the modes `auto` and
 * `keyring`, checks whether the keyring is available.
 */
export async function credentialLocation(
  folder: string,
  mode: CredentialStoreMode,
  keys: Pick<KeyringKeys, "problem">,
): Promise<CredentialLocation> {
  const inFiles = `in files that only their user can open, in ${folder}`;
  if (mode === "ephemeral")
    return { store: "memory", words: "in memory, until the host ends", problem: null };
  if (mode === "file") return { store: "file", words: inFiles, problem: null };
  const problem = await keys.problem();
  const sealed = `in ${folder}, sealed with a key in the keyring of the system`;
  if (problem === undefined) return { store: "keyring", words: sealed, problem: null };
  if (mode === "keyring") return { store: "keyring", words: sealed, problem };
  return { store: "file", words: `${inFiles}; the keyring does not answer: ${problem}`, problem: null };
}
