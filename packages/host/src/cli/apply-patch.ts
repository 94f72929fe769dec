// The program `apply_patch` for commands of models. It runs as a part of the command, in the command's sandbox.
import { text } from "node:stream/consumers";
import { nodeWorkspace } from "../platform/node-workspace.ts";
import { applyPlan, MAX_FILE_BYTES } from "../tool/patch/apply-plan.ts";
import { parsePatch } from "../tool/patch/parse.ts";
import { planPatch } from "../tool/patch/plan.ts";

/** The patch is the first argument, or standard input. */
async function run([argument]: readonly string[]): Promise<string> {
  const files = parsePatch(argument ?? (await text(process.stdin)));
  const { writes, summary } = await planPatch(files, process.cwd(), async (path) => {
    const file = await nodeWorkspace.read(path, MAX_FILE_BYTES);
    return file === undefined ? null : Buffer.from(file.bytes).toString("latin1");
  });
  // What may be written is for the sandbox to say.
  const applied = await applyPlan(writes, nodeWorkspace, () => true);
  if (applied.kind === "failed") {
    const changed = applied.changed.map((path) => ` ${path} has the new content all the same.`).join("");
    throw new Error(`The patch was not applied. ${applied.why}.${changed}`);
  }
  return `The patch was applied.\n${summary.join("\n")}\n`;
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
