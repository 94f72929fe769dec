import { useRef } from "preact/hooks";
import { languageOf } from "./languages.ts";
import { TokenText } from "./token-text.tsx";
import { useHighlight } from "./use-highlight.ts";

/** Code in the colours of its tokens, and plain until they are known. */
export function ColouredCode({ text, language }: { text: string; language: string }) {
  const box = useRef<HTMLSpanElement>(null);
  const found = useHighlight(box, text, languageOf(language));
  return (
    <span ref={box}>
      {found === undefined ? null : <TokenText text={found.text} runs={found.runs} />}
      {found === undefined ? text : text.slice(found.text.length)}
    </span>
  );
}
