import { useSignal } from "@preact/signals";
import { CheckIcon, CopyIcon } from "../parts/icons.tsx";
import { LazyComponent } from "../parts/lazy-component.tsx";

const loadColouredCode = async () => (await import("../highlight/coloured-code.tsx")).ColouredCode;

/** Code with its language and a button that copies it. */
export function CodeBlock({ text, language }: { text: string; language: string }) {
  return (
    <figure class={`code${language === "" ? " unnamed" : ""}`}>
      <figcaption>
        <span>{language}</span>
        <CopyButton text={text} />
      </figcaption>
      <pre tabIndex={0}>
        <code>
          {language === "" ? (
            text
          ) : (
            <LazyComponent load={loadColouredCode} props={{ text, language }} meanwhile={text} />
          )}
        </code>
      </pre>
    </figure>
  );
}

export function CopyButton({ text }: { text: string }) {
  const isCopied = useSignal(false);
  // Browsers allow the clipboard only for pages of this machine and of HTTPS.
  if (navigator.clipboard === undefined) return null;
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    isCopied.value = true;
    setTimeout(() => {
      isCopied.value = false;
    }, 1500);
  };
  return (
    <button type="button" class="quiet small" onClick={() => void copy()} aria-label="Copy">
      {isCopied.value ? <CheckIcon /> : <CopyIcon />}
    </button>
  );
}
