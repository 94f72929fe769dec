import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { stdioHost } from "../support/host-process.ts";
import { times } from "../support/long-form.ts";

const WRITES = times(100, 1_000);

it("[WRITE-4] loses none of the writes that two hosts on one home make at the same time", async () => {
  const home = await freshFolder();
  const path = join(home, "config.toml");
  const text = '# mine\nmodel = "offline" # for now\n\n[desktop] # all of it\n';
  await writeFile(path, text);
  const hosts = await Promise.all([stdioHost({ home }), stdioHost({ home })]);
  await Promise.all(
    hosts.map(async ({ client }, nth) => {
      for (let at = 0; at < WRITES / 2; at++) {
        const edit = { keyPath: `desktop.k${nth}_${at}`, value: at, mergeStrategy: "replace" };
        expect(await client.call("config/value/write", edit)).toMatchObject({ status: "ok" });
      }
    }),
  );
  const written = await readFile(path, "utf8");
  const { desktop } = (await hosts[0].client.call("config/read", {})).config;
  expect(Object.keys(desktop)).toHaveLength(WRITES);
  for (const nth of [0, 1]) for (let at = 0; at < WRITES / 2; at++) expect(desktop[`k${nth}_${at}`]).toBe(at);
  expect(written.startsWith(text)).toBe(true);
});

it("[WRITE-4] lets one of two writes on the same version through", async () => {
  const home = await freshFolder();
  const hosts = await Promise.all([stdioHost({ home }), stdioHost({ home })]);
  const [{ version }] = (await hosts[0].client.call("config/read", { includeLayers: true })).layers;
  const write = { keyPath: "model", mergeStrategy: "replace", expectedVersion: version };
  const outcomes = await Promise.allSettled(
    hosts.map(({ client }, nth) => client.call("config/value/write", { ...write, value: `m${nth}` })),
  );
  expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
});
