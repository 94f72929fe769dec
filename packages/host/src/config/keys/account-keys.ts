import { CREDENTIAL_STORES } from "../../credentials/credential-store.ts";
import { MCP_CREDENTIAL_STORES } from "../credential-settings.ts";
import { choice, either, type KeyTable, named, number, table, text, textList, whole } from "./key.ts";

const PRICE: KeyTable = {
  input: { type: number, about: "Dollars for a million input tokens." },
  cached_input: {
    type: number,
    about: "Dollars for a million cached input tokens.",
    default: "input",
  },
  output: { type: number, about: "Dollars for a million output tokens." },
};

/** Keys of the account that pays for models. */
export const ACCOUNT_KEYS: KeyTable = {
  cli_auth_credentials_store: {
    type: choice(...CREDENTIAL_STORES),
    about:
      "Storage of the account and of API keys: plain files of the home, files encrypted with a key in the keyring, the latter if a keyring is available (auto), or memory until the host ends.",
    default: "auto",
  },
  mcp_oauth_credentials_store: {
    type: choice(...MCP_CREDENTIAL_STORES),
    about: "The same for logins to MCP servers.",
    default: "auto",
  },
  forced_login_method: {
    type: choice("api", "chatgpt"),
    about: "The only allowed login: with an API key, or to ChatGPT.",
    default: "both",
  },
  forced_chatgpt_workspace_id: {
    type: either(text, textList),
    about: "The workspace or workspaces to which a ChatGPT login is limited.",
    default: "any",
  },
  chatgpt_base_url: {
    type: text,
    about: "Base URL of the service that accepts the tokens of ChatGPT logins.",
    default: "ChatGPT's URL",
  },
  login: {
    type: table({
      issuer: {
        type: text,
        about: "The authorization server for ChatGPT logins.",
        default: "OpenAI's",
      },
      client_id: {
        type: text,
        about: "OAuth client id of Bobbin at that server.",
        default: "the Codex CLI's",
      },
      callback_port: {
        type: whole(0, 65_535),
        about: "The local port of the browser's redirect; 0 for any.",
        default: "1455, else 1457; with another issuer any",
      },
    }),
    about: "How users log in.",
  },
  usage: {
    type: table({
      daily_tokens: {
        type: whole(1),
        about: "Limit on the tokens of one day (UTC). Once it is reached, no model is called.",
        default: "no limit",
      },
      daily_cost_usd: {
        type: number,
        about: "The same for dollars, for models with a price.",
        default: "no limit",
      },
      prices: {
        type: named("MODEL", table(PRICE), "The price of a model's tokens."),
        about: "Prices of models. The cost of a model without a price is unknown.",
      },
    }),
    about: "Daily limits on the use of models, and prices.",
  },
};
