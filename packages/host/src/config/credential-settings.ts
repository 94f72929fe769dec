import { CREDENTIAL_STORES } from "../credentials/credential-store.ts";
import type { CredentialSettings } from "../credentials/open-credentials.ts";
import { oneOf, type Table } from "./table-reader.ts";

/** Values of `mcp_oauth_credentials_store`, as in the Codex CLI. */
export const MCP_CREDENTIAL_STORES = ["auto", "file", "keyring"] as const;

export function readCredentialStores(table: Table): CredentialSettings {
  return {
    account: oneOf(table, "cli_auth_credentials_store", CREDENTIAL_STORES) ?? "auto",
    mcp: oneOf(table, "mcp_oauth_credentials_store", MCP_CREDENTIAL_STORES) ?? "auto",
  };
}
