import type { FunctionCallOutputBody, FunctionCallOutputContentItem } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import { keepOutcome, restoredOutput } from "./output-blobs.ts";

const image = (size: number) => {
  const bytes = Buffer.concat([Buffer.from("GIF89a\x01\0\x01\0", "latin1"), Buffer.alloc(size, 7)]);
  const image_url = `data:image/gif;base64,${bytes.toString("base64")}`;
  return { type: "input_image", image_url, detail: "high" } as unknown as FunctionCallOutputContentItem;
};
const words: FunctionCallOutputContentItem = { type: "input_text", text: "Look:" };

function store() {
  const blobs = new Map<string, Uint8Array>();
  return {
    blobs,
    keep: async (name: string, bytes: Uint8Array) => void blobs.set(name, bytes),
    blob: async (name: string) => blobs.get(name),
  };
}

const keepOutput = (output: FunctionCallOutputBody, keep: ReturnType<typeof store>["keep"]) =>
  keepOutcome({ output, content: [] }, keep);

describe("the output of a tool", () => {
  it("has its large pictures in blobs, and is complete again when it is shown", async () => {
    const { keep, blob, blobs } = store();
    const output = [words, image(100_000), image(10), image(100_000)];
    const kept = (await keepOutput(output, keep))!;
    expect(JSON.stringify(kept.output).length).toBeLessThan(1000);
    expect([...blobs.keys()]).toEqual(Object.values(kept.blobs));
    expect(await restoredOutput(kept, blob)).toEqual(output);
  });

  it("says so where a picture is gone", async () => {
    const kept = (await keepOutput([image(100_000)], store().keep))!;
    expect(await restoredOutput(kept, store().blob)).toEqual([
      { type: "input_text", text: expect.stringMatching(/not there any more/) },
    ]);
  });

  it("has a note in place of large media that no model can use, and clients get it whole", async () => {
    const { keep, blobs } = store();
    const data = Buffer.alloc(100_000, 7).toString("base64");
    const output = [
      { type: "input_audio", audio_url: `data:audio/wav;base64,${data}` },
    ] as FunctionCallOutputContentItem[];
    const content = [{ type: "audio", data, mimeType: "audio/wav" }];
    const kept = (await keepOutcome({ output, content }, keep))!;
    expect(kept.output).toEqual([
      {
        type: "input_text",
        text: "(audio left out because it could not be processed: it is no WAV, MP3, M4A, WebM or Ogg)",
      },
    ]);
    expect(JSON.stringify(kept).length).toBeLessThan(1000);
    expect([...blobs.values()].map((bytes) => Buffer.from(bytes).toString("base64"))).toEqual([data]);
    expect((await keepOutput(output, keep))!.output).toEqual(kept.output);
  });

  it("stays as it is without such pictures, whatever it names", async () => {
    const { keep, blob } = store();
    expect(await keepOutput("x".repeat(100_000), keep)).toBeUndefined();
    expect(await keepOutput([words, image(10)], keep)).toBeUndefined();
    const foreign = { type: "input_image", image_url: "kept:../../secret" } as FunctionCallOutputContentItem;
    expect(await keepOutput([foreign], keep)).toBeUndefined();
    expect(await restoredOutput({ output: [foreign], blobs: {} }, blob)).toEqual([foreign]);
  });
});
