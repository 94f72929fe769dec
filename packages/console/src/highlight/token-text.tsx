import "../style/highlight.css";
import { memo } from "../parts/memo.tsx";
import type { TokenRun } from "./token-runs.ts";

/** Text in the colours of its tokens. Tokens have lengths but no text, so exactly `text` is shown. */
export const TokenText = memo(({ text, runs }: { text: string; runs: readonly TokenRun[] }) => {
  let at = 0;
  const pieces = runs.map(([kind, length], nth) => {
    const piece = text.slice(at, at + length);
    at += length;
    return kind === "" ? (
      piece
    ) : (
      <span key={nth} class={`token-${kind}`}>
        {piece}
      </span>
    );
  });
  return (
    <>
      {pieces}
      {text.slice(at)}
    </>
  );
});
