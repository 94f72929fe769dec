import type { ContextItem } from "../model/model.ts";

const UNSEEN = "(a picture, which this model can not be given)";

/** The same conversation for a model that can not see: words in place of pictures, and all words around them. */
export function withoutPictures(context: readonly ContextItem[]): readonly ContextItem[] {
  return context.map((item): ContextItem => {
    if (item.type === "message") {
      const parts = item.parts.map((part) =>
        part.type === "image" ? ({ type: "text", text: UNSEEN } as const) : part,
      );
      return { ...item, parts };
    }
    if (item.type !== "toolOutput" || typeof item.output === "string") return item;
    const output = item.output.map((part) =>
      part.type === "input_image" ? ({ type: "input_text", text: UNSEEN } as const) : part,
    );
    return { ...item, output };
  });
}
