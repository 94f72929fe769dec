import { FRAME, HEAD_BYTES } from "../../packages/host/src/sandbox/network/bridge-protocol.ts";
import type { FakeProcess, FakeProgram } from "./fake-spawn.ts";

/** `work LINES MS CHILDREN`: writes lines, sleeps in between, and starts other processes that outlive it. */
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

/**
 * `bwrap … connect HOST PORT COUNT MS`: a sandboxed program that opens COUNT connections to a host at once, through
 * its bridge, writes the first line of each answer, and gives up after MS. Any other sandboxed program succeeds and
 * does nothing.
 */
export const bwrap: FakeProgram = async (process) => {
  const text = process.argv.at(-1)!;
  if (text.startsWith("hook")) return hook(process, text);
  const [verb, host, port, count = "1", ms = "1000000000"] = process.argv.at(-1)!.split(" ");
  if (verb !== "connect") return 0;
  const answers = await Promise.race([
    connect(process, `${host}:${port}`, Number(count)),
    process.sleep(Number(ms)).then(() => ["gave up"]),
  ]);
  for (const answer of answers) await process.write(`${answer}\n`);
  return 0;
};

/**
 * `hook WORDS`: writes the words. `hook-once WORDS`: writes them unless a hook has already made the model continue.
 */
export async function hook(process: FakeProcess, text: string): Promise<number> {
  const input = (await process.read()) ?? "";
  const [verb] = text.split(" ", 1);
  if (verb === "hook-once" && input.includes('"stop_hook_active":true')) return 0;
  await process.write(text.slice(verb!.length + 1));
  return 0;
}

async function connect({ channel }: FakeProcess, place: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, nth) => nth + 1);
  const request = Buffer.from(`CONNECT ${place} HTTP/1.1\r\n\r\n`);
  for (const id of ids) {
    await channel!.write(frame(FRAME.OPEN, id, 0));
    await channel!.write(Buffer.concat([frame(FRAME.DATA, id, request.length), request]));
  }
  const answers = new Map<number, string>();
  let read: Buffer = Buffer.alloc(0);
  for await (const piece of channel!.input) {
    read = Buffer.concat([read, piece]);
    while (read.length >= HEAD_BYTES) {
      const [kind, id, amount] = [read[0]!, read.readUInt32BE(1), read.readUInt32BE(5)];
      const end = HEAD_BYTES + (kind === FRAME.DATA ? amount : 0);
      if (read.length < end) break;
      if (kind === FRAME.DATA && !answers.has(id))
        answers.set(id, read.subarray(HEAD_BYTES, end).toString().split("\r\n", 1)[0]!);
      read = read.subarray(end);
    }
    if (answers.size === count) break;
  }
  return ids.map((id) => answers.get(id) ?? "nothing");
}

function frame(kind: number, id: number, amount: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head[0] = kind;
  head.writeUInt32BE(id, 1);
  head.writeUInt32BE(amount, 5);
  return head;
}
