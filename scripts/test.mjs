// The whole suite: what can be checked without running (npm run check), then every test. Arguments go to vitest.
import { spawnSync } from "node:child_process";

const only = process.argv.slice(2);
if (only.length === 0) run("scripts/check.mjs", []);
run("node_modules/vitest/vitest.mjs", ["run", ...only]);

function run(script, args) {
  const { status } = spawnSync(process.execPath, [script, ...args], { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
