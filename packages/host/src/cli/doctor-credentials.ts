import { credentialLocation } from "../credentials/credential-location.ts";
import type { CredentialSettings, Credentials } from "../credentials/open-credentials.ts";
import { credentialFolder } from "../store/files/credential-files.ts";
import type { Verdict } from "./doctor-check-runner.ts";

/** Checks where credentials are stored, and whether the keyring answers. */
export async function credentialsFinding(
  home: string,
  { account }: CredentialSettings,
  { keys }: Pick<Credentials, "keys">,
): Promise<Verdict> {
  const { words, problem } = await credentialLocation(credentialFolder(home), account, keys);
  if (problem === null) return { works: true, found: `kept ${words}` };
  return {
    works: false,
    found: `the keyring does not answer: ${problem}`,
    advice:
      'Unlock it, or set cli_auth_credentials_store = "auto" in config.toml to keep credentials in files.',
  };
}
