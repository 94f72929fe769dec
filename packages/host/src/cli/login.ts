import { text } from "node:stream/consumers";
import { keyProblem } from "../account/api-key.ts";
import { ACCOUNT_PROVIDER } from "../account/current-account.ts";
import { homeDirectory } from "../config/home-folder.ts";
import { messageOf } from "../errors.ts";
import { LoginError } from "../oauth/login-error.ts";
import { type AccountContext, findProvider, openAccountContext, printError } from "./account-context.ts";
import { loginByPastedUrl } from "./login-by-pasted-url.ts";
import type { KeyOptions, LoginOptions } from "./login-command.ts";
import { openBrowser } from "./open-browser.ts";
import { escapeControls, Output } from "./terminal-output.ts";

/** Logs in, or stores an API key. Resolves with the exit code. */
export async function login(options: LoginOptions): Promise<number> {
  const context = await openAccountContext(options.config);
  const provider = findProvider(context, options.provider);
  if (provider === undefined) return 1;
  if (options.withApiKey === true) return storeKey(context, provider);
  if (provider.id !== ACCOUNT_PROVIDER) {
    printError(`${provider.name} takes a key: bobbin login --with-api-key --provider ${provider.id}.`);
    return 1;
  }
  if (context.config.login.forcedMethod === "api") {
    printError("config.toml allows keys only (forced_login_method): bobbin login --with-api-key.");
    return 1;
  }
  return interactive(context, options);
}

/** Deletes the stored login or API key. Resolves with the exit code. */
export async function logout(options: KeyOptions): Promise<number> {
  const context = await openAccountContext(options.config);
  const provider = findProvider(context, options.provider);
  if (provider === undefined) return 1;
  const wasThere = await context.accounts.deleteKey(provider.id);
  await say(wasThere ? `Logged out of ${provider.name}.` : `Nothing was stored for ${provider.name}.`);
  return 0;
}

async function storeKey(
  { accounts, config }: AccountContext,
  provider: { readonly id: string; readonly name: string },
): Promise<number> {
  if (provider.id === ACCOUNT_PROVIDER && config.login.forcedMethod === "chatgpt") {
    printError("config.toml allows ChatGPT logins only (forced_login_method): bobbin login.");
    return 1;
  }
  if (process.stdin.isTTY) {
    printError(
      "--with-api-key reads the key from a pipe, for example: printenv OPENAI_API_KEY | bobbin login --with-api-key",
    );
    return 1;
  }
  const apiKey = (await text(process.stdin)).trim();
  const problem = keyProblem(apiKey);
  if (problem !== undefined) {
    printError(`The key was not stored: ${problem}.`);
    return 1;
  }
  try {
    await accounts.setKey(provider.id, apiKey);
  } catch (cause) {
    printError(
      `The key was not stored: ${messageOf(cause)}. Is ${homeDirectory()} a folder that you can write to?`,
    );
    return 1;
  }
  await say(`Stored the key for ${provider.name}.`);
  return 0;
}

/** Interval of a timer that does nothing but keep the process alive while it waits for the user. */
const AWAKE_MS = 60_000;

async function interactive({ accounts }: AccountContext, options: LoginOptions): Promise<number> {
  const stdout = new Output(process.stdout);
  const awake = setInterval(() => {}, AWAKE_MS);
  try {
    const logins = await accounts.logins();
    if (options.deviceAuth === true) {
      const { verificationUrl, userCode, done } = await logins.device();
      stdout.line(`\nTo log in, open this address on any device:\n\n  ${escapeControls(verificationUrl)}\n`);
      stdout.line(`and enter this code there:\n\n  ${escapeControls(userCode)}\n`);
      stdout.line("Enter it only if you started this login yourself. Waiting …");
      await done;
    } else {
      const pending = await logins.browser();
      stdout.line(`\nTo log in, open this address:\n\n  ${escapeControls(pending.url)}\n`);
      if (!options.browser) await loginByPastedUrl(pending, stdout);
      else {
        const isOpen = await openBrowser(pending.url);
        stdout.line(
          isOpen ? "Waiting for your browser …" : "No browser could be opened; waiting for yours …",
        );
        await pending.done;
      }
    }
    stdout.line(stdout.green("Logged in."));
    await stdout.flushed();
    return 0;
  } catch (cause) {
    if (!(cause instanceof LoginError)) throw cause;
    printError(`Cannot log in: ${cause.message}`);
    return 1;
  } finally {
    clearInterval(awake);
    await accounts.close();
  }
}

async function say(words: string): Promise<void> {
  const stdout = new Output(process.stdout);
  stdout.line(words);
  await stdout.flushed();
}
