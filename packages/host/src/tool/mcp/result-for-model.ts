import { isDeepStrictEqual } from "node:util";
import type { FunctionCallOutputBody, FunctionCallOutputContentItem } from "@bobbin/protocol";
import { fairLimit, resultText } from "../result-text.ts";
import type { MediaPart, ReadResult } from "./result-parts.ts";

/** Limit on the characters of text that the model gets of one result. */
const MAX_TEXT = 64 * 1024;
/** The index that stands for the structured content. */
const STRUCTURED = -1;

/** A part of a result that is too long for the model and is written to a file. */
export interface FilePart {
  /** The index of the part, or `STRUCTURED` for the structured content. */
  readonly at: number;
  readonly extension: "txt" | "bin";
  readonly content: string | Uint8Array;
}

/** The parts that are too long for the model. */
export function partsForFiles(read: ReadResult): readonly FilePart[] {
  const { texts, limit } = textsOf(read);
  return [
    ...[...texts].flatMap(([at, text]): FilePart[] =>
      text.length > limit ? [{ at, extension: "txt", content: text }] : [],
    ),
    ...read.parts.flatMap((part, at): FilePart[] =>
      part.kind === "bytes" ? [{ at, extension: "bin", content: Buffer.from(part.data, "base64") }] : [],
    ),
  ];
}

/** The output of a call for the model. `fileOf`: the path of the file that contains a part, if there is one. */
export function modelOutput(
  read: ReadResult,
  fileOf: (at: number) => string | undefined = () => undefined,
): FunctionCallOutputBody {
  const { texts, limit } = textsOf(read);
  const words = (at: number): FunctionCallOutputContentItem[] => {
    const text = texts.get(at);
    if (text === undefined) return [];
    const file = fileOf(at);
    const where = file === undefined ? "" : `; all of it is in ${file}`;
    return [{ type: "input_text", text: resultText(text, limit, where) }];
  };
  const parts = read.parts.flatMap((part, at): FunctionCallOutputContentItem[] => {
    switch (part.kind) {
      case "image":
        return [{ type: "input_image", image_url: dataUrl(part) } as FunctionCallOutputContentItem];
      case "audio":
        return [{ type: "input_audio", audio_url: dataUrl(part) } as FunctionCallOutputContentItem];
      case "bytes":
        return [{ type: "input_text", text: bytesText(part, fileOf(at)) }];
      default:
        return words(at);
    }
  });
  const [structured] = words(STRUCTURED);
  if (structured?.type === "input_text") return parts.length === 0 ? structured.text : [...parts, structured];
  if (parts.length > 0) return parts;
  return read.success ? "(The tool answered without any content.)" : "The tool failed, and did not say why.";
}

/** The texts of a result by index, and the character limit for each text. */
function textsOf({ parts, structured, structuredJson }: ReadResult): {
  readonly texts: ReadonlyMap<number, string>;
  readonly limit: number;
} {
  const texts = new Map<number, string>();
  for (const [at, part] of parts.entries()) {
    if (part.kind === "resourceText") texts.set(at, `Resource ${part.uri}:\n${part.text}`);
    // Texts that repeat the structured content are left out. Many servers send them for clients that do not support
    // structured content.
    else if ("text" in part && !(structuredJson !== null && repeats(part.text, structured)))
      texts.set(at, part.text);
  }
  if (structuredJson !== null) texts.set(STRUCTURED, structuredJson);
  const lengths = [...texts.values()].map(({ length }) => length);
  return { texts, limit: fairLimit(lengths, MAX_TEXT) };
}

/** Whether a text is the structured content as JSON, or its only member. */
function repeats(text: string, structured: unknown): boolean {
  const members = Object.values(Object(structured) as object);
  if (members.length === 1 && members[0] === text) return true;
  try {
    return isDeepStrictEqual(JSON.parse(text), structured);
  } catch {
    return false;
  }
}

function bytesText({ uri, data, mimeType }: MediaPart, file: string | undefined): string {
  const place = file === undefined ? "" : `; it is in the file ${file}`;
  return `Resource ${uri.slice(0, 2000)}: ${Buffer.byteLength(data, "base64")} bytes of ${mimeType}${place}`;
}

function dataUrl({ mimeType, data }: MediaPart): string {
  return `data:${mimeType};base64,${data}`;
}
