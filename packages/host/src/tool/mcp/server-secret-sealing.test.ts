import { expect, it } from "vitest";
import { openedServers, sealedServers } from "./server-secret-sealing.ts";

const seals = {
  seal: async (text: string) => `sealed ${text}`,
  open: (text: string) => (text === "sealed broken" ? undefined : text.replace(/^sealed /, "")),
};

const mcpServers = {
  web: {
    url: "https://mcp.example/a-secret-path?key=b",
    http_headers: { authorization: "Bearer c" },
    bearer_token_env_var: "TOKEN",
    oauth: { client_id: "id", client_secret: "d", callback_port: 5 },
    startup_timeout_sec: 3,
  },
  local: {
    command: "node",
    args: ["--key", "e"],
    env: { KEY: "f" },
    env_vars: ["PATH"],
    unheard_of: { of: ["g"] },
  },
  changed: { enabled: false },
  left: false,
  none: null,
};

it("[ACCT-8] seals every text of a server that may be a secret, and opens it again", async () => {
  const sealed = await sealedServers({ developerInstructions: "Be brief.", mcpServers }, seals);
  expect(sealed).toEqual({
    developerInstructions: "Be brief.",
    mcpServers: {
      ...mcpServers,
      web: {
        ...mcpServers.web,
        url: "sealed https://mcp.example/a-secret-path?key=b",
        http_headers: { authorization: "sealed Bearer c" },
        oauth: { client_id: "sealed id", client_secret: "sealed d", callback_port: 5 },
      },
      local: {
        ...mcpServers.local,
        args: ["sealed --key", "sealed e"],
        env: { KEY: "sealed f" },
        unheard_of: { of: ["sealed g"] },
      },
    },
  });
  expect(openedServers(sealed.mcpServers!, seals)).toEqual({ servers: mcpServers, problems: [] });
  expect(await sealedServers({ mcpServers: null }, seals)).toEqual({ mcpServers: null });
});

it("[ACCT-8] reads servers of an older journal as they are", () => {
  expect(openedServers(mcpServers, seals)).toEqual({ servers: mcpServers, problems: [] });
});

it("[ACCT-8] leaves out a server with a secret that cannot be opened, and says so", () => {
  const broken = { ...mcpServers, local: { command: "node", env: { KEY: "sealed broken" } } };
  expect(openedServers(broken, seals)).toEqual({
    servers: { ...mcpServers, local: false },
    problems: [expect.stringMatching(/^mcp_servers\.local: .* cannot be read/)],
  });
});
