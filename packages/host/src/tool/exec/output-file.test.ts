import { describe, expect, it } from "vitest";
import { MAX_FILE_BYTES, OutputFile } from "./output-file.ts";

/** An output file on a disk with room for `room` bytes. */
function opened(room = Number.POSITIVE_INFINITY) {
  const written: Uint8Array[] = [];
  const size = (): number => written.reduce((sum, { length }) => sum + length, 0);
  const file = {
    append: async (bytes: Uint8Array) => {
      if (size() + bytes.length > room) throw new Error("no space left on device");
      written.push(bytes);
    },
    close: async () => {},
    path: "/outputs/call_1.txt",
  };
  const text = (): string => Buffer.concat(written).toString();
  return { output: new OutputFile(async () => file), size, text };
}

const piece = new Uint8Array(1024 * 1024).fill(97);

describe("the file of a long output", () => {
  it("[EXEC-4] is not made for a short one that the model gets whole", async () => {
    const { output, size } = opened();
    await output.add(piece.subarray(0, 1000));
    await output.close();
    expect(size()).toBe(0);
  });

  it("[EXEC-4] is made for a short one that the model does not get whole, also after the command's end", async () => {
    const { output, text } = opened();
    await output.add(Buffer.from("one\n"));
    expect(await output.save()).toBe("the whole output is in /outputs/call_1.txt");
    await output.add(Buffer.from("two\n"));
    expect(text()).toBe("one\ntwo\n");
    await output.close();

    const ended = opened();
    await ended.output.add(Buffer.from("one\n"));
    await ended.output.close();
    expect(await ended.output.save()).toBe("the whole output is in /outputs/call_1.txt");
    expect(ended.text()).toBe("one\n");
  });

  it("[EXEC-4] has two streams in the order in which they came, though both are written at once", async () => {
    const { output, text } = opened();
    const long = "o".repeat(20_000);
    await Promise.all([long, "e", long].map((one) => output.add(Buffer.from(one))));
    expect(text() === `${long}e${long}`).toBe(true);
  });

  it("[EXEC-4] has all of it up to a bound, and says whether it has", async () => {
    const { output, size } = opened();
    for (let bytes = 0; bytes < MAX_FILE_BYTES; bytes += piece.length) await output.add(piece);
    expect(await output.save()).toBe("the whole output is in /outputs/call_1.txt");
    await output.add(piece.subarray(0, 1));
    expect(await output.save()).toBe("the beginning of the output is in /outputs/call_1.txt");
    expect(size()).toBe(MAX_FILE_BYTES);
  });

  it("[EXEC-4] ends where the disk is full, and says so", async () => {
    const { output } = opened(piece.length);
    await output.add(piece);
    await output.add(piece);
    expect(await output.save()).toBe("the beginning of the output is in /outputs/call_1.txt");
  });

  it("is none where outputs are in no files, and nothing is buffered for it", async () => {
    let opened = 0;
    const output = new OutputFile(async () => void opened++);
    for (let nth = 0; nth < 3; nth++) await output.add(piece);
    expect([await output.save(), opened]).toEqual([undefined, 1]);
    await output.close();
  });
});
