import type { Readable, Writable } from "node:stream";
import type { ByteStream } from "./platform.ts";

/** A pair of Node's streams, or one that is both. */
export function byteStream(input: Readable, output: Writable): ByteStream {
  // What breaks one of them is thrown to whoever reads or writes.
  input.on("error", () => {});
  output.on("error", () => {});
  return {
    input: input.iterator({ destroyOnReturn: false }),
    write: (bytes) =>
      new Promise((resolve, reject) => {
        if (!output.writable) return reject(new Error("the other side takes nothing any more"));
        output.write(bytes, (error) => (error ? reject(error) : resolve()));
      }),
    end: () => void output.end(),
    destroy() {
      input.destroy();
      output.destroy();
    },
  };
}
