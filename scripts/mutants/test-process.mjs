// A process that keeps vitest loaded in one copy of the tree, and runs test files on request: after a change only the
// changed file is compiled again. Requests and replies are messages of the parent process.
import { join, relative } from "node:path";
import { createVitest } from "vitest/node";

const root = process.cwd();

/** Runs the files in the order of the request: the likeliest to fail come first. */
class InOrder {
  shard = (files) => files;
  sort = (files) => files;
}

const vitest = await createVitest("test", {
  root,
  // vitest.config.ts has tests that start programs, too.
  config: false,
  include: ["packages/host/src/**/*.test.ts", "test/{model,simulation,store}/**/*.test.ts"],
  globalSetup: ["test/support/global-setup.ts"],
  setupFiles: [...JSON.parse(process.env.BOBBIN_MUTANTS_SETUP ?? "[]"), "test/support/clean-up.ts"],
  testTimeout: 300_000,
  hookTimeout: 300_000,
  watch: false,
  cache: false,
  pool: "forks",
  isolate: false,
  maxWorkers: 1,
  bail: process.env.BOBBIN_MUTANTS_BAIL === "0" ? 0 : 1,
  sequence: { sequencer: InOrder },
  reporters: [{ onTestModuleStart: progress, onTestCaseResult: progress }],
});
await vitest.standalone();
const specifications = new Map();
for (const specification of await vitest.globTestSpecifications())
  specifications.set(relative(root, specification.moduleId), specification);

process.on("message", async ({ files, changed }) => {
  try {
    for (const file of changed) vitest.invalidateFile(join(root, file));
    process.send(await run(files));
  } catch (cause) {
    process.send({ error: String(cause?.stack ?? cause) });
  }
});
process.on("disconnect", () => process.exit());
process.send({ ready: [...specifications.keys()] });

/** Runs test files until one fails. `passed` has the time that each took. */
async function run(files) {
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(
    files.map((file) => specifications.get(file)),
  );
  const wanted = new Set(files.map((file) => join(root, file)));
  const passed = {};
  let failed = null;
  for (const module of testModules) {
    if (!wanted.has(module.moduleId)) continue;
    const file = relative(root, module.moduleId);
    const tests = [...module.children.allTests()];
    const bad = tests.find((test) => test.result().state === "failed");
    const errors = [
      ...module.errors(),
      ...[...module.children.allSuites()].flatMap((suite) => suite.errors()),
    ];
    if (bad !== undefined) {
      const ms = bad.diagnostic()?.duration ?? 0;
      failed ??= { file, title: bad.fullName, ms, message: messageOf(bad.result().errors?.[0]) };
    } else if (errors.length > 0) {
      failed ??= { file, title: "it does not load", ms: 0, message: messageOf(errors[0]) };
    } else if (module.ok()) passed[file] = Math.round(module.diagnostic().duration);
  }
  if (failed === null && unhandledErrors.length > 0)
    failed = {
      file: files[0],
      title: "an error that no test awaits",
      ms: 0,
      message: messageOf(unhandledErrors[0]),
    };
  return { failed, passed };
}

/** Names the test file that runs now: a long silence after it is a hang. */
function progress(entity) {
  process.send({ at: relative(root, (entity.module ?? entity).moduleId) });
}

function messageOf(error) {
  return String(error?.message ?? error).slice(0, 500);
}
