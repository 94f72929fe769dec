import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeFolder, temporaryFolder } from "../lib/cleanup.mjs";
import { startMockModel } from "../lib/mock-model.mjs";
import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate-subjects.mjs";
import { withHomes } from "../lib/subjects.mjs";
import { makeLargeRepository } from "../lib/threads.mjs";
import { Turns } from "../lib/turns.mjs";

export const name = "patch";
export const about = "a turn that patches 10 files, in a folder without git and in a large repository";

const STARTS = 3;
const TURNS = { ours: 60, peer: 15, floor: 0 };
const WARM_UP = { ours: 60, peer: 2, floor: 0 };
const FOLDERS = [
  { of: "patch", files: 0 },
  { of: "patch repository", files: 5_000 },
];
const FILES = Array.from({ length: 10 }, (_, nth) => `file-${nth}.txt`);
const CONTENT = Array.from({ length: 200 }, (_, nth) => `line ${nth}\n`).join("");
/** A patch that can be applied repeatedly: each time it inserts a line after the tenth. */
const PATCH = [
  "*** Begin Patch",
  ...FILES.flatMap((file) => [`*** Update File: ${file}`, "@@", " line 8", " line 9", "+new"]),
  "*** End Patch",
  "",
].join("\n");

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = STARTS, onRound }) {
  const model = await startMockModel({ tool: "apply_patch", args: PATCH });
  try {
    const options = { modelUrl: model.url, sandbox: "workspace-write" };
    return await withHomes(subjects("ours", "peer"), options, async (homes) => {
      const results = [];
      for (const { of, files } of FOLDERS) {
        const samples = await rotate(homes, { runs, atMostMs: 180_000, onRound }, (home) =>
          sample(home, files),
        );
        results.push(result({ name: of, unit: "ms", samples, bar: [{ of: "ours/peer", max: 1 / 5 }] }));
      }
      return results;
    });
  } finally {
    model.close();
  }
}

/**
 * @param {import("../lib/subjects.mjs").Home} home
 * @param {number} files of the repository; 0 for a folder without git
 */
async function sample(home, files) {
  const server = home.stdio();
  const cwd = temporaryFolder();
  if (files > 0) makeLargeRepository(cwd, files);
  for (const file of FILES) writeFileSync(join(cwd, file), CONTENT);
  try {
    await server.initialize();
    let patches = 0;
    server.listeners.add(({ method, params }) => {
      if (method !== "item/completed" || params.item.type !== "fileChange") return;
      if (params.item.status === "completed" && params.item.changes.length === FILES.length) patches++;
    });
    const turns = new Turns(server);
    // A model name for which apply_patch is a freeform tool.
    const { thread } = await server.request("thread/start", { cwd, model: "gpt-5.5" });
    for (let turn = 0; turn < WARM_UP[home.name]; turn++) await turns.run(thread.id);
    const times = [];
    for (let turn = 0; turn < TURNS[home.name]; turn++) times.push(await turns.run(thread.id));
    const expected = WARM_UP[home.name] + TURNS[home.name];
    if (patches !== expected) throw new Error(`${patches} of ${expected} patches were applied`);
    return times;
  } finally {
    await server.close();
    removeFolder(cwd);
  }
}
