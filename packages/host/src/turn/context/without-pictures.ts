import type { ContextItem } from "../../model/model.ts";

const IMAGE_NOTE = "(a picture, which this model cannot be given)";

/** The conversation for a model without vision: a note replaces each image. */
export function withoutPictures(context: readonly ContextItem[]): readonly ContextItem[] {
  return context.map((item): ContextItem => {
    if (item.type === "message") {
      const parts = item.parts.map((part) =>
        part.type === "image" ? ({ type: "text", text: IMAGE_NOTE } as const) : part,
      );
      return { ...item, parts };
    }
    if (item.type !== "toolOutput" || typeof item.output === "string") return item;
    const output = item.output.map((part) =>
      part.type === "input_image" ? ({ type: "input_text", text: IMAGE_NOTE } as const) : part,
    );
    return { ...item, output };
  });
}
