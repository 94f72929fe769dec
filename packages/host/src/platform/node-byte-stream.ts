import type { Readable, Writable } from "node:stream";
import type { ByteStream } from "./platform.ts";

/** A `ByteStream` of two Node streams, or of one duplex stream passed twice. */
export function byteStream(input: Readable, output: Writable): ByteStream {
  // A broken stream rejects the running read or write. Without a listener, Node would end the process.
  input.on("error", () => {});
  output.on("error", () => {});
  return {
    input: input.iterator({ destroyOnReturn: false }),
    write: (bytes) =>
      new Promise((resolve, reject) => {
        if (!output.writable) return reject(new Error("the stream is closed for writing"));
        output.write(bytes, (error) => (error ? reject(error) : resolve()));
      }),
    end: () => void output.end(),
    destroy() {
      input.destroy();
      output.destroy();
    },
  };
}
