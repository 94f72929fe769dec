// Tokens of logins in reports of problems and in metrics, against a real authorization server.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";
import { KNOWN_CLIENT } from "../support/oauth/authorization-server.ts";
import { browse } from "../support/oauth/browser.ts";
import { oauthStage, storedLogin } from "../support/oauth/stage.ts";
import { unzipped } from "../support/unzipped.ts";

const stage = oauthStage();

async function hostAt(home: string) {
  const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"], env: { OPENAI_API_KEY: "" } });
  const client = await host.join(undefined, { experimentalApi: true });
  /** The texts of a report with a file that contains both tokens, and the metrics. */
  const published = async (): Promise<string> => {
    const { accessToken, refreshToken } = await storedLogin(home);
    const extra = join(home, "trace.log");
    await writeFile(extra, `first ${accessToken} second ${refreshToken} end\n`);
    const savePath = join(home, "report.zip");
    const asked = { classification: "bug", includeLogs: true, extraLogFiles: [extra], savePath };
    await client.call("feedback/save", asked);
    const metrics = await (await fetch(`${await host.site()}/metrics`)).text();
    const texts = [...unzipped(await readFile(savePath)).values(), metrics].join("\n");
    for (const secret of [accessToken, refreshToken]) expect(texts).not.toContain(secret);
    return texts;
  };
  return { client, published };
}

const REDACTED = /first \S*redacted\S* second \S*redacted\S* end/i;

it("[LOGIN-1] tokens of a ChatGPT account are neither in reports nor in metrics", async () => {
  const home = await freshFolder();
  const login = `[login]\nissuer = "${stage.authorization.issuer}"\nclient_id = "${KNOWN_CLIENT}"\n`;
  await writeFile(join(home, "config.toml"), `model_provider = "openai"\n${login}`);
  const { client, published } = await hostAt(home);
  const { authUrl } = await client.call("account/login/start", { type: "chatgpt" });
  await browse(authUrl);
  await client.waitFor(({ method }) => method === "account/login/completed", "the login");
  expect(await published()).toMatch(REDACTED);
});

it("[FEEDBACK-1] tokens of logins to MCP servers are neither in reports nor in metrics", async () => {
  const home = await stage.home();
  const first = await hostAt(home);
  const { authorizationUrl } = await first.client.call("mcpServer/oauth/login", { name: "files" });
  await browse(authorizationUrl);
  await first.client.waitFor(({ method }) => method === "mcpServer/oauthLogin/completed", "the login");
  expect(await first.published()).toMatch(REDACTED);
});
