import type { ThreadItem } from "@bobbin/protocol";
import { ToolIcon } from "../../parts/icons.tsx";
import { durationText } from "../../parts/quantity-text.ts";
import { Detail, FoldedItem, type ItemState, Note } from "./folded-item.tsx";
import { InlinePicture } from "./picture.tsx";

type Of<T extends ThreadItem["type"]> = Extract<ThreadItem, { type: T }>;

const STATES: Readonly<Record<"inProgress" | "completed" | "failed", ItemState>> = {
  inProgress: "running",
  completed: "done",
  failed: "failed",
};

/** A call of an MCP server's or a tool server's tool. */
export function McpItem({ item, progress }: { item: Of<"mcpToolCall">; progress: string | null }) {
  const { server, tool, status, durationMs, error, result } = item;
  return (
    <FoldedItem
      icon={<ToolIcon />}
      title={<ToolName server={server} tool={tool} />}
      facts={durationMs === null ? (progress ?? "") : durationText(durationMs)}
      state={STATES[status]}
      isOpen={status === "failed"}
    >
      <Detail name="Arguments" text={jsonText(item.arguments)} />
      {error ? <Detail name="Error" text={error.message} /> : null}
      {result?.content.map((part, at) => (
        <ResultPart key={at} part={part} />
      ))}
    </FoldedItem>
  );
}

/** A call of a tool that a client offers. */
export function DynamicToolItem({ item }: { item: Of<"dynamicToolCall"> }) {
  const { namespace, tool, status, durationMs, contentItems } = item;
  return (
    <FoldedItem
      icon={<ToolIcon />}
      title={<ToolName server={namespace ?? ""} tool={tool} />}
      facts={durationMs === null ? "" : durationText(durationMs)}
      state={STATES[status]}
      isOpen={status === "failed"}
    >
      <Detail name="Arguments" text={jsonText(item.arguments)} />
      {contentItems?.map((part, at) => (
        <ResultPart key={at} part={part} />
      ))}
    </FoldedItem>
  );
}

/** The output of a tool call whose call is not in the history. */
export function FunctionOutputItem({ item: { name, output } }: { item: Of<"functionCallOutput"> }) {
  return (
    <FoldedItem icon={<ToolIcon />} title={<ToolName server="" tool={name} />} state="done">
      {typeof output === "string" ? (
        <Detail name="Output" text={output} />
      ) : (
        output.map((part, at) => <ResultPart key={at} part={part} />)
      )}
    </FoldedItem>
  );
}

function ToolName({ server, tool }: { server: string; tool: string }) {
  return (
    <>
      {server === "" ? null : <span class="dim">{server} · </span>}
      <code>{tool}</code>
    </>
  );
}

/**
 * A part of a result: text, a picture, or any other data as JSON. MCP servers, clients (`inputText`) and models
 * (`input_text`) have different names for them.
 */
function ResultPart({ part }: { part: unknown }) {
  const found = (part ?? {}) as Readonly<Record<string, unknown>>;
  switch (found.type) {
    case "text":
    case "inputText":
    case "input_text":
      return <Detail name="Result" text={jsonText(found.text)} />;
    case "image":
      return <ResultPicture url={`data:${String(found.mimeType)};base64,${String(found.data)}`} />;
    case "inputImage":
      return <ResultPicture url={String(found.imageUrl)} />;
    case "input_image":
      return <ResultPicture url={String(found.image_url)} />;
    case "audio":
    case "inputAudio":
    case "input_audio":
      return <Note icon={<ToolIcon />}>A recording</Note>;
    default:
      return <Detail name="Result" text={jsonText(part)} />;
  }
}

function ResultPicture({ url }: { url: string }) {
  return <InlinePicture url={url} alt="Result of the tool" />;
}

export function jsonText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
