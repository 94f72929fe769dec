// The key of seals moves into the keyring, and the host dies at any step of that.
import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { readConfig } from "../../packages/host/src/config/config.ts";
import { journals } from "../model/journals.ts";
import { FakeKeyring } from "../support/fake-keyring.ts";
import { STUCK_MS } from "../support/patience.ts";
import { toolset } from "../support/tool-server.ts";
import { runSeed } from "./run.ts";
import type { World } from "./world.ts";

const SECRETS = new Map([
  ["http://before.example", "Bearer planted-before-0061"],
  ["http://meanwhile.example", "Bearer planted-meanwhile-0062"],
]);
const IN_FILES = readConfig({ cli_auth_credentials_store: "file" });
/** Steps after the end of the move that are tried as well. */
const BEYOND = 5;

/** What a thread is started with that brings a tool server along. */
function startOf(url: string): { readonly toolServers: Record<string, unknown> } {
  return { toolServers: { desk: { url, headers: { authorization: SECRETS.get(url) } } } };
}

/** Tool servers that note by whom they were asked, and with which header. */
function serve(world: World): (origin: string, host: string) => readonly (string | undefined)[] {
  const asked: { readonly origin: string; readonly host: string; readonly header: string | undefined }[] = [];
  for (const origin of SECRETS.keys())
    world.network.servers.set(origin, async ({ from }, { headers }) => {
      asked.push({ origin, host: from.name, header: headers.authorization });
      return { status: 200, json: toolset(origin, { look: {} }) };
    });
  return (origin, host) =>
    asked.filter((one) => one.origin === origin && one.host === host).map(({ header }) => header);
}

const idIn = (path: string): string => path.slice(-".jsonl".length - 36, -".jsonl".length);

const isMoved = ({ disk }: World): boolean =>
  disk.paths.some((path) => path.includes("/credentials/") && disk.text(path)?.includes('"sealed":'));

/** The move, on a host that dies so many steps after it has asked the keyring; true if the move was over before. */
async function dieMoving(world: World, kind: "kill" | "power", steps: number): Promise<boolean> {
  const [before, meanwhile] = [...SECRETS.keys()] as [string, string];
  const headersOf = serve(world);
  const first = await world.start({ config: IN_FILES });
  const early = first.connect();
  await early.initialize({ experimentalApi: true });
  const { thread } = (await early.call("thread/start", startOf(before))) as { thread: { id: string } };
  await early.turnEnd(await early.startTurn(thread.id));
  await first.close();

  const keyring = new FakeKeyring();
  world.keyring = keyring;
  const second = await world.start();
  const dead = new Promise<void>((resolve) => {
    let isAsked = false;
    keyring.before = async () => {
      if (!isAsked) void second.crashIn(steps, () => kind).then(resolve);
      isAsked = true;
    };
  });
  const life = async (): Promise<void> => {
    const client = second.connect();
    await client.initialize({ experimentalApi: true });
    await client.call("thread/resume", { threadId: thread.id });
    await client.call("thread/start", startOf(meanwhile));
  };
  await Promise.all([dead, life().catch(() => {})]);
  const over = isMoved(world);
  keyring.answer();

  const third = await world.start();
  const late = third.connect();
  await late.initialize({ experimentalApi: true });
  for (const path of journals(world.disk)) {
    const threadId = idIn(path);
    await late.call("thread/resume", { threadId });
    await world.scheduler.quiet();
    const origin = threadId === thread.id ? before : meanwhile;
    world.check(() => assert.deepEqual([...new Set(headersOf(origin, third.name))], [SECRETS.get(origin)]));
  }
  await third.close();
  for (const path of world.disk.paths)
    for (const secret of SECRETS.values())
      world.check(() => assert.ok(!world.disk.text(path)?.includes(secret), `${path} has a secret`));
  return over;
}

describe("a key of seals that moves into the keyring", () => {
  it.each(["kill", "power"] as const)(
    "[ACCT-11] [ACCT-13] opens what was sealed before and meanwhile, whenever the host dies (%s)",
    { timeout: STUCK_MS },
    async (kind) => {
      for (let steps = 0, beyond = 0; beyond < BEYOND; steps++) {
        await runSeed(1 + (steps % 3), async (world) => {
          const over = await dieMoving(world, kind, steps).catch((cause: unknown) => {
            throw new Error(`${kind} after ${steps} steps: ${(cause as Error).message}`, { cause });
          });
          if (over) beyond++;
        });
      }
    },
  );
});
