// Only one run of tests, proofs or benches at a time (scripts/machine-lock.mjs).
import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { atFileEnd } from "./support/file-end.ts";
import { freePort } from "./support/free-port.ts";

const lock = join(import.meta.dirname, "../scripts/machine-lock.mjs");
const started = new Set<ChildProcess>();
atFileEnd(async () => {
  for (const child of started) child.kill("SIGKILL");
});

class Run {
  readonly child: ChildProcess;
  output = "";

  constructor(name: string, port: number, env: Record<string, string> = {}) {
    const code = `
      const { lockMachine } = await import(${JSON.stringify(lock)});
      await lockMachine(${JSON.stringify(name)}, { port: ${port} });
      process.stderr.write("runs\\n");
      process.stdin.resume();
    `;
    const { BOBBIN_MACHINE_LOCK: _, ...rest } = process.env;
    this.child = spawn(process.execPath, ["--input-type=module", "-e", code], { env: { ...rest, ...env } });
    started.add(this.child);
    this.child.stderr!.on("data", (chunk) => {
      this.output += chunk;
    });
  }

  async says(text: string): Promise<void> {
    while (!this.output.includes(text))
      await new Promise<void>((resolve, reject) => {
        this.child.stderr!.once("data", () => resolve());
        this.child.once("close", () => reject(new Error(`it ended: ${this.output}`)));
      });
  }
}

it("lets a second run wait, names the first one, and goes on when that is killed", async () => {
  const port = await freePort();
  const first = new Run("npm test", port);
  await first.says("runs");
  const second = new Run("npm run bench", port);
  await second.says("waiting for another run to end: npm test (process ");
  expect(second.output).toContain(`process ${first.child.pid}, in `);
  expect(second.output).not.toContain("runs");
  first.child.kill("SIGKILL");
  await second.says("runs");
});

it("counts what a run starts as part of it", async () => {
  const port = await freePort();
  const first = new Run("npm run proof", port);
  await first.says("runs");
  const part = new Run("npm test", port, { BOBBIN_MACHINE_LOCK: "1" });
  await part.says("runs");
});

it("says so if another program holds its port", async () => {
  const other = createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as { port: number };
  const run = new Run("npm test", port);
  await run.says(`port ${port}, which is our lock, is held by another program`);
  other.close();
});
