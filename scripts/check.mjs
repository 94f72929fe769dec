// Runs all static checks in parallel, then prints their results.
import { spawn } from "node:child_process";

const checks = [
  ["format and lint", "biome", ["check", "."]],
  ["promises and ports", "oxlint", ["--type-aware", "--deny-warnings"]],
  ["types", "tsc", ["--noEmit"]],
  ["types of the console", "tsc", ["--noEmit", "-p", "packages/console"]],
  ["unused code", "knip", ["--no-progress"]],
];
const results = await Promise.all(checks.map(([, command, args]) => run(command, args)));
let failed = false;
for (const [index, { code, output }] of results.entries()) {
  const [name, command] = checks[index];
  process.stdout.write(`${code === 0 ? "✓" : "✗"} ${name} (${command})\n`);
  if (code === 0) continue;
  failed = true;
  process.stdout.write(`${output}\n`);
}
process.exit(failed ? 1 : 0);

function run(command, args) {
  return new Promise((resolve) => {
    const child = spawn(`node_modules/.bin/${command}`, args, { shell: process.platform === "win32" });
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (output += chunk));
    child.on("close", (code) => resolve({ code, output }));
    child.on("error", (error) => resolve({ code: 1, output: String(error) }));
  });
}
