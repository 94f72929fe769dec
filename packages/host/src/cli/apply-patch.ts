// The program `apply_patch`, which a model's shell command can call. It runs inside the command's sandbox.
import { text } from "node:stream/consumers";
import { nodeWorkspace } from "../platform/node-workspace-files.ts";
import { applyPlan, MAX_FILE_BYTES } from "../tool/patch/apply-plan.ts";
import { parsePatch } from "../tool/patch/parse-patch.ts";
import { patchReport, planPatch } from "../tool/patch/plan-patch.ts";

/** Applies the patch in the first argument, or from standard input if there is none. */
async function run([argument]: readonly string[]): Promise<string> {
  const files = parsePatch(argument ?? (await text(process.stdin)));
  const { writes } = await planPatch(files, process.cwd(), async (path) => {
    const file = await nodeWorkspace.read(path, MAX_FILE_BYTES);
    return file === undefined ? null : Buffer.from(file.bytes).toString("latin1");
  });
  // Every path is allowed here: the sandbox decides what may be written.
  const applied = await applyPlan(writes, nodeWorkspace, () => true);
  if (applied.kind === "failed") {
    const changed = applied.changed.map((path) => ` ${path} has the new content all the same.`).join("");
    throw new Error(`The patch was not applied. ${applied.why}.${changed}`);
  }
  return patchReport(files);
}

run(process.argv.slice(2)).then(
  (words) => {
    process.stdout.write(words);
  },
  (cause: Error) => {
    process.stderr.write(`apply_patch: ${cause.message}\n`);
    process.exitCode = 1;
  },
);
