// The one environment that threads work in: what it is, and that there is no other.
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";
import type { WireClient } from "../support/wire-client.ts";

const EXPERIMENTAL = { experimentalApi: true };

describe.each(["stdio", "websocket"] as const)("the environment, on %s", (transport) => {
  /** Two clients of one host, the first on the transport. */
  async function clients(cwd: string, shell: string): Promise<readonly [WireClient, WireClient]> {
    const args = ["--listen", "ws://127.0.0.1:0", "--stdio"];
    const host = await spawnHost({ args, cwd, env: { SHELL: shell } });
    const socket = await host.join(undefined, EXPERIMENTAL);
    const stdio = host.stdio();
    await stdio.initialize(EXPERIMENTAL);
    return transport === "stdio" ? [stdio, socket] : [socket, stdio];
  }

  it("[ENVIRONMENT-1] is local and ready, and has the host's shell and folder", async () => {
    const cwd = await freshFolder("some place");
    const [one, other] = await clients(cwd, "/bin/sh");
    const local = { environmentId: "local" };
    for (const client of [one, other]) {
      expect(await client.call("environment/status", local)).toEqual({ status: "ready" });
      expect(await client.call("environment/info", local)).toEqual({
        shell: { name: "sh", path: "/bin/sh" },
        cwd: pathToFileURL(cwd).href,
      });
    }
    expect(pathToFileURL(cwd).href).toContain("some%20place");
  });

  it("[ENVIRONMENT-2] is the only one: other ids are unknown, and none can be added", async () => {
    const [one, other] = await clients(await freshFolder("place"), "/bin/sh");
    const ask = { environmentId: "far", execServerUrl: "ws://127.0.0.1:1" };
    expect(await one.refusal("environment/add", ask)).toEqual({
      code: -32600,
      message:
        "cannot add environment `far`: this host has only the environment `local`, and takes no remote ones",
      data: { code: "onlyLocalEnvironment", retryable: false },
    });
    // The same id as the one that is there replaces nothing.
    expect(await one.refusal("environment/add", { ...ask, environmentId: "local" })).toMatchObject({
      data: { code: "onlyLocalEnvironment" },
    });
    for (const environmentId of ["far", "", "x".repeat(5000)]) {
      const shown = `unknown environment id \`${environmentId.slice(0, 100)}\``;
      expect(await other.call("environment/status", { environmentId })).toEqual({
        status: "unknown",
        error: shown,
      });
      expect(await other.refusal("environment/info", { environmentId })).toEqual({
        code: -32600,
        message: shown,
        data: { code: "environmentNotFound", retryable: false },
      });
    }
  });
});
