// What a listener without authentication shows over plain HTTP, and to whom.
import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { spawnHost } from "../support/host-process.ts";
import { hasOtherUsers } from "../support/machine.ts";

const PAGES = ["/metrics", "/status"];
const PROBES = ["/healthz", "/readyz"];

const FETCH = `
const [, ...urls] = process.argv;
(async () => { for (const url of urls) { const reply = await fetch(url); console.log(reply.status, await reply.text()); } })();
`;

/** The program that fetches URLs and prints a status and the body of each. */
const fetching = (site: string, paths: readonly string[]): readonly [string, ...string[]] => [
  process.execPath,
  "-e",
  FETCH,
  ...paths.map((path) => `${site}${path}`),
];

function statuses(output: string): string[] {
  return output.split("\n").flatMap((line) => /^(\d{3}) /.exec(line)?.[1] ?? []);
}

it.runIf(hasOtherUsers())("[OWN-4] shows nothing but probes to other users of the machine", async () => {
  const host = await spawnHost({ args: ["--listen", "ws://127.0.0.1:0"] });
  const [program, ...args] = fetching(await host.site(), [...PAGES, ...PROBES]);
  const output = execFileSync(program, args, { encoding: "utf8", uid: 65534, gid: 65534 });
  expect(statuses(output)).toEqual(["403", "403", "200", "200"]);
  expect(output).toMatch(/"otherUser".*--ws-auth/);
});

it("[OWN-4] shows nothing but probes to commands of the host, and all to its user", async () => {
  const host = await spawnHost({ args: ["--listen", "ws://127.0.0.1:0"] });
  const site = await host.site();
  const client = await host.join();
  const { stdout } = await client.call("command/exec", {
    command: fetching(site, [...PAGES, ...PROBES]),
    sandboxPolicy: { type: "dangerFullAccess" },
    timeoutMs: 30_000,
  });
  expect(statuses(stdout)).toEqual(["403", "403", "200", "200"]);
  const own = await Promise.all(PAGES.map(async (path) => (await fetch(`${site}${path}`)).status));
  expect(own).toEqual([200, 200]);
});
