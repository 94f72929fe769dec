// The hosts that run on one home.
import type { HostOfHome } from "@bobbin/protocol";
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";

it("[CONSOLE-30] server/hosts/list names every host of the home, and forgets one that was killed", async () => {
  const home = await freshFolder("home");
  const args = ["--listen", "ws://127.0.0.1:0"];
  const first = await spawnHost({ home, args });
  const client = await first.join(undefined, { experimentalApi: true });
  await client.startThread();
  const second = await spawnHost({ home, args });
  const other = await second.join(undefined, { experimentalApi: true });
  const onStdio = await spawnHost({ home });
  const editor = onStdio.stdio();
  await editor.initialize();
  // A thread is claimed with its first turn.
  for (const text of ["One", "Two"]) await editor.turn(await editor.startThread(), text);

  const hosts = async (): Promise<HostOfHome[]> => (await client.call("server/hosts/list", {})).data;
  // A host opens its socket for commands a moment after it listens.
  await eventually(async () => (await hosts()).length === 3, "all three are listed");
  const [own, listening, silent] = await hosts();
  const { hostId, version, startedAt } = await other.call("server/diagnostics", {});
  expect(own).toMatchObject({ isThis: true, processId: first.pid, threads: 1, version: "0.1.0" });
  expect(listening).toEqual({ hostId, isThis: false, processId: second.pid, version, startedAt, threads: 0 });
  expect(Math.abs(Date.now() / 1000 - startedAt)).toBeLessThan(3600);
  expect(silent).toMatchObject({
    isThis: false,
    processId: null,
    version: null,
    startedAt: null,
    threads: 2,
  });

  await second.kill();
  await onStdio.kill();
  await eventually(async () => (await hosts()).length === 1, "those that were killed are gone");
});
