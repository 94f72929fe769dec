import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { homeWith } from "../mcp-stage.ts";
import { AuthorizationServer } from "./authorization-server.ts";
import { GuardedServer } from "./guarded-server.ts";

export interface Stage {
  readonly authorization: AuthorizationServer;
  readonly server: GuardedServer;
  /** `[mcp_servers.files]`, for the server. */
  readonly table: string;
  home(...more: readonly string[]): Promise<string>;
}

/** An authorization server and an MCP server behind it, for one test file. */
export function oauthStage(): Stage {
  const stage = {} as { -readonly [K in keyof Stage]: Stage[K] };
  beforeAll(async () => {
    stage.authorization = await AuthorizationServer.start();
    stage.server = await GuardedServer.start(stage.authorization);
    stage.table = `[mcp_servers.files]\nurl = ${JSON.stringify(stage.server.url)}`;
    stage.home = (...more) => homeWith(stage.table, ...more);
  });
  beforeEach(() => {
    Object.assign(stage.authorization, { person: "agrees", isFailing: false, beforeToken: async () => {} });
    Object.assign(stage.authorization.given, { authorization_code: 0, refresh_token: 0 });
  });
  afterAll(async () => {
    await stage.server.close();
    await stage.authorization.close();
  });
  return stage;
}

interface StoredTokens {
  readonly kind: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresAt: number;
  readonly obtainedAt: number;
}

/** The only login stored in a home. */
export async function storedLogin(home: string): Promise<StoredTokens> {
  return JSON.parse(JSON.parse(await readFile(await loginFile(home), "utf8")).value);
}

/** Changes a stored login as if it had been made `ms` milliseconds earlier. */
export async function ageLogin(home: string, ms: number): Promise<void> {
  const path = await loginFile(home);
  const file = JSON.parse(await readFile(path, "utf8"));
  const login: StoredTokens = JSON.parse(file.value);
  const aged = { ...login, expiresAt: login.expiresAt - ms, obtainedAt: login.obtainedAt - ms };
  await writeFile(path, JSON.stringify({ ...file, value: JSON.stringify(aged) }));
}

async function loginFile(home: string): Promise<string> {
  const folder = join(home, "credentials");
  const [file, ...others] = (await readdir(folder)).filter((name) => name.endsWith(".json"));
  if (file === undefined || others.length > 0) throw new Error("there is not one login");
  return join(folder, file);
}
