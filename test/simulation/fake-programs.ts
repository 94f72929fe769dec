import type { FakeProgram } from "./fake-spawn.ts";

/** `work LINES MS CHILDREN`: writes lines, sleeps in between, and starts others that go on without it. */
export const work: FakeProgram = async (process) => {
  const [lines = 0, ms = 0, children = 0] = process.argv.slice(1).map(Number);
  for (let child = 0; child < children; child++)
    process.fork((one) => one.forever(), { setsid: child % 2 === 1, silent: true });
  for (let line = 0; line < lines; line++) {
    await process.write(`line ${line}\n`);
    await process.sleep(ms);
  }
  return lines % 3;
};

/** `echo`: writes what it reads, until it reads `end`. */
export const echo: FakeProgram = async (process) => {
  for (let text = await process.read(); text !== undefined; text = await process.read()) {
    if (text.includes("end")) return 0;
    await process.write(text);
  }
  return 1;
};
