import {
  array,
  enumeration,
  filePath,
  integer,
  object,
  omittable,
  optional,
  type Static,
  string,
  tagged,
} from "../schema-language.ts";
import { ImageDetail } from "./item-part.ts";

export const AdditionalContextEntry = object("AdditionalContextEntry", () => ({
  kind: AdditionalContextKind,
  name: optional(string()),
  value: string(),
}));
export type AdditionalContextEntry = Static<typeof AdditionalContextEntry>;

export const AdditionalContextKind = enumeration("AdditionalContextKind", ["untrusted", "application"]);
export type AdditionalContextKind = Static<typeof AdditionalContextKind>;

export const ByteRange = object("ByteRange", () => ({ end: integer("uint64"), start: integer("uint64") }));
export type ByteRange = Static<typeof ByteRange>;

export const TextElement = object("TextElement", () => ({
  byteRange: ByteRange,
  placeholder: optional(string()),
}));
export type TextElement = Static<typeof TextElement>;

export const UserInput = tagged("UserInput", "type", () => ({
  text: { text: string(), text_elements: omittable(array(TextElement)) },
  image: [
    { detail: optional(ImageDetail), url: string() },
    { detail: optional(ImageDetail), fileId: string() },
  ],
  localImage: { detail: optional(ImageDetail), path: filePath() },
  audio: [{ url: string() }, { fileId: string() }],
  localAudio: { path: filePath() },
  skill: { name: string(), path: filePath() },
  mention: { name: string(), path: filePath() },
}));
export type UserInput = Static<typeof UserInput>;
