// Runs a command while it holds the machine's lock: node scripts/run-alone.mjs NAME COMMAND [ARGUMENT …]
import { spawn } from "node:child_process";
import { lockMachine } from "./machine-lock.mjs";

const [name, command, ...args] = process.argv.slice(2);
await lockMachine(name);
const child = spawn(command, args, { stdio: "inherit" });
// The command gets a Ctrl-C from the terminal itself, and ends by it.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => child.kill("SIGTERM"));
child.on("error", (error) => {
  process.stderr.write(`${command}: ${error.message}\n`);
  process.exitCode = 1;
});
child.on("close", (code) => {
  process.exitCode = code ?? 1;
});
