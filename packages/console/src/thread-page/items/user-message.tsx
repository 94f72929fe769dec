import type { UserInput } from "@bobbin/protocol";
import { InlinePicture, PictureOfFile } from "./picture.tsx";
import { textPieces } from "./text-pieces.ts";

/** A message of the user: texts with mentions in them, pictures, and names of files. */
export function UserMessage({ content }: { content: readonly UserInput[] }) {
  const texts = content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  return (
    <article class="user" aria-label="Your message">
      {content.map((part, at) => {
        // A skill or file that the text already names is not shown again.
        const isNamed =
          (part.type === "skill" || (part.type === "mention" && part.path.endsWith(part.name))) &&
          texts.includes(part.name);
        return isNamed ? null : <Part key={at} part={part} />;
      })}
    </article>
  );
}

function Part({ part }: { part: UserInput }) {
  switch (part.type) {
    case "text":
      return (
        <p dir="auto">
          {textPieces(part.text, part.text_elements ?? []).map(({ text, isElement }, at) =>
            isElement ? (
              <span key={at} class="mention">
                {text}
              </span>
            ) : (
              text
            ),
          )}
        </p>
      );
    case "image":
      return "url" in part ? (
        <InlinePicture url={part.url} alt="Attached by you" />
      ) : (
        <p class="dim">A picture</p>
      );
    case "localImage":
      return (
        <>
          <PictureOfFile path={part.path} />
          <p class="dim path">{part.path}</p>
        </>
      );
    case "localAudio":
      return <p class="dim path">{part.path}</p>;
    case "audio":
      return <p class="dim">A recording</p>;
    case "skill":
    case "mention":
      return <p class="dim path">{`@${part.name}`}</p>;
  }
}
