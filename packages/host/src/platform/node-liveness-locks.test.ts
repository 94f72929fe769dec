import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../../../../test/support/eventually.ts";
import { freshFolder } from "../../../../test/support/folder.ts";
import { nodeLiveness } from "./node-liveness-locks.ts";

/** Another process: tries each lock as soon as it is listed, and writes which it got and how many it saw. */
const PROBE = `
  const { DatabaseSync } = require("@photostructure/sqlite");
  const { readdirSync } = require("node:fs");
  const folder = process.argv[1];
  const seen = new Set();
  const look = () => {
    for (const name of readdirSync(folder)) {
      if (!name.endsWith(".lock") || seen.has(name)) continue;
      seen.add(name);
      const database = new DatabaseSync(folder + "/" + name);
      try {
        database.exec("PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
        console.log("free", name);
      } catch {}
      database.close();
    }
    console.log("seen", seen.size);
    setImmediate(look);
  };
  look();
`;

it("a host's lock is held from the moment that others can see it", async () => {
  const folder = await freshFolder();
  const probe = spawn(process.execPath, ["-e", PROBE, folder], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  probe.stdout.on("data", (chunk) => {
    text += chunk;
  });
  await eventually(() => text.includes("seen 0\n"), "the other process looks");
  const names = Array.from({ length: 200 }, (_, index) => `host-${index}.lock`);
  const releases = [];
  for (const name of names) releases.push(await nodeLiveness.announce(join(folder, name)));
  await eventually(() => text.includes("seen 200\n"), "the other process has seen all locks");
  probe.kill();
  await once(probe, "close");
  expect(text.match(/free .*/g)).toBeNull();
  expect((await readdir(folder)).sort()).toEqual(names.sort());
  for (const release of releases) await release();
  expect(await readdir(folder)).toEqual([]);
});
