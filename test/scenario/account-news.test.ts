// account/updated for changes of the account, whichever process makes them.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { stdioHost } from "../support/host-process.ts";
import { runBobbin } from "../support/run-bobbin.ts";
import type { WireClient } from "../support/wire-client.ts";

const env = { OPENAI_API_KEY: "" };
const UPDATED = "account/updated";

it("[ACCT-15] notifies once of each login and logout, by another process, another host, and this one", async () => {
  const home = await freshFolder();
  await writeFile(join(home, "config.toml"), 'model_provider = "openai"\n');
  const bobbin = (args: readonly string[], input = "") =>
    runBobbin(args, { env: { ...env, BOBBIN_HOME: home }, input });
  const { client } = await stdioHost({ home, env });
  const { client: other } = await stdioHost({ home, env });
  for (const one of [client, other])
    expect(await one.call("account/read", {})).toMatchObject({ account: null });
  const modes = (one: WireClient) => one.told(UPDATED).map(({ params }) => params.authMode);
  const expected: (string | null)[] = [];
  const hear = async (mode: string | null): Promise<void> => {
    expected.push(mode);
    for (const one of [client, other])
      await one.until(() => one.count(UPDATED) >= expected.length, `account/updated ${expected.length}`);
  };
  await bobbin(["login", "--with-api-key"], "planted-news-key-0041");
  await hear("apikey");
  // Another account of the same kind.
  await bobbin(["login", "--with-api-key"], "planted-news-key-0042");
  await hear("apikey");
  await bobbin(["logout"]);
  await hear(null);
  await client.call("account/login/start", { type: "apiKey", apiKey: "planted-news-key-0043" });
  await hear("apikey");
  await other.call("account/logout");
  await hear(null);
  await bobbin(["login", "--with-api-key"], "planted-news-key-0043");
  await hear("apikey");
  for (const one of [client, other]) expect(modes(one)).toEqual(expected);
  expect(await client.call("account/read", {})).toMatchObject({ account: { type: "apiKey" } });
});
