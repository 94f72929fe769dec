// What the Codex CLI was recorded to reply about files, frame by frame.
import { describe, it } from "vitest";
import { playExactly } from "../support/exact-play.ts";
import { spawnHost, stdioHost } from "../support/host-process.ts";
import type { WireClient } from "../support/wire-client.ts";

const EXPERIMENTAL = { experimentalApi: true };

async function connected(transport: string): Promise<WireClient> {
  if (transport === "stdio") return (await stdioHost({ capabilities: EXPERIMENTAL })).client;
  const host = await spawnHost({ args: ["--listen", "ws://127.0.0.1:0"] });
  return host.join(undefined, EXPERIMENTAL);
}

describe.each(["stdio", "websocket"])("on %s", (transport) => {
  it("[FS-1] [RECORDED-1] replies about files as the Codex CLI", async () => {
    await playExactly("fs", await connected(transport));
  });

  it("[SEARCH-1] [RECORDED-1] finds files as the Codex CLI", async () => {
    await playExactly("fuzzy", await connected(transport));
  });
});
