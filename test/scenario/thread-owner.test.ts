// Owners of threads, as the host's own user and subjects see them.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Thread } from "@bobbin/protocol";
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";
import { KEY, signedBearer } from "../support/signed-token.ts";

it("[CONSOLE-26] the host's own user sees owners and lists by owner, a subject does neither", async () => {
  const home = await freshFolder("home");
  await writeFile(join(home, "key"), KEY);
  const auth = ["--ws-auth", "signed-bearer-token", "--ws-shared-secret-file", join(home, "key")];
  const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0", "--stdio", ...auth] });
  const own = host.stdio();
  await own.initialize({ experimentalApi: true });
  const ann = await host.connect(undefined, signedBearer("ann"));
  await ann.initialize({ experimentalApi: true });
  const bob = await host.connect(undefined, signedBearer("bob"));
  await bob.initialize({ experimentalApi: true });
  const [ofUser, ofAnn, ofBob] = [await own.startThread(), await ann.startThread(), await bob.startThread()];
  await own.turn(ofUser, "of the user");
  await ann.turn(ofAnn, "of ann");
  await bob.turn(ofBob, "of bob");

  const listed = async (client: typeof own, params: object): Promise<string[]> => {
    const { data } = (await client.call("thread/list", params)) as { data: Thread[] };
    return data.map(({ preview, owner }) => `${preview}: ${owner}`).sort();
  };
  const all = ["of ann: subject:ann", "of bob: subject:bob", "of the user: local"];
  await eventually(async () => (await listed(own, {})).join() === all.join(), "all threads are listed");
  expect(await listed(own, { owner: "subject:bob" })).toEqual(["of bob: subject:bob"]);
  expect(await listed(own, { owner: "local", sortKey: "recency_at" })).toEqual(["of the user: local"]);
  expect(await listed(own, { owner: "nobody" })).toEqual([]);
  expect((await own.call("thread/read", { threadId: ofAnn })).thread.owner).toBe("subject:ann");

  expect(await listed(ann, {})).toEqual(["of ann: undefined"]);
  expect(await listed(ann, { owner: "subject:ann" })).toEqual(["of ann: undefined"]);
  expect(await listed(ann, { owner: "subject:bob" })).toEqual([]);
  expect((await ann.call("thread/read", { threadId: ofAnn })).thread.owner).toBeUndefined();

  const older = await spawnHost({ home: host.home });
  const stable = older.stdio();
  await stable.initialize();
  await eventually(async () => (await listed(stable, {})).length === 3, "another host lists them");
  expect(await listed(stable, {})).toEqual(
    ["of ann", "of bob", "of the user"].map((one) => `${one}: undefined`),
  );
});
