import type { ThreadItem } from "@bobbin/protocol";
import { Markdown } from "../../markdown/markdown.tsx";
import {
  CheckIcon,
  FileIcon,
  GlobeIcon,
  PeopleIcon,
  PlanIcon,
  ThoughtIcon,
  ToolIcon,
} from "../../parts/icons.tsx";
import { LazyComponent } from "../../parts/lazy-component.tsx";
import { memo } from "../../parts/memo.tsx";
import { CommandItem } from "./command-item.tsx";
import { FileChangeItem } from "./file-change-item.tsx";
import { FoldedItem, Note } from "./folded-item.tsx";
import { PictureOfFile } from "./picture.tsx";
import { DynamicToolItem, FunctionOutputItem, McpItem } from "./tool-items.tsx";
import { UserMessage } from "./user-message.tsx";

const loadHelperCallItem = async () => (await import("./helper-call-item.tsx")).HelperCallItem;

interface Props {
  /** The item with the text that was streamed so far. */
  readonly item: ThreadItem;
  readonly isRunning: boolean;
  readonly progress: string | null;
}

/** One item of a turn. */
export const ItemView = memo(({ item, isRunning, progress }: Props) => {
  switch (item.type) {
    case "userMessage":
      return <UserMessage content={item.content} />;
    case "agentMessage":
      if (item.text === "" && !isRunning) return null;
      return (
        <article class={`agent${isRunning ? " running" : ""}`} aria-label="Answer">
          <Markdown text={item.text} />
        </article>
      );
    case "plan":
      return (
        <FoldedItem icon={<PlanIcon />} title="Proposed plan" state="done" isOpen>
          <Markdown text={item.text} />
        </FoldedItem>
      );
    case "reasoning":
      return <Reasoning summary={item.summary} content={item.content} isRunning={isRunning} />;
    case "commandExecution":
      return <CommandItem item={item} />;
    case "fileChange":
      return <FileChangeItem item={item} />;
    case "mcpToolCall":
      return <McpItem item={item} progress={progress} />;
    case "dynamicToolCall":
      return <DynamicToolItem item={item} />;
    case "functionCallOutput":
      return <FunctionOutputItem item={item} />;
    case "collabAgentToolCall":
      return <LazyComponent load={loadHelperCallItem} props={{ item }} />;
    case "subAgentActivity":
      return <Note icon={<PeopleIcon />}>{`Helper ${item.agentPath}: ${item.kind}`}</Note>;
    case "webSearch":
      return <Note icon={<GlobeIcon />}>{`Searched the web: ${item.query}`}</Note>;
    case "imageView":
      return (
        <div>
          <Note icon={<FileIcon />}>{`Looked at ${item.path}`}</Note>
          <PictureOfFile path={item.path} />
        </div>
      );
    case "hookPrompt":
      return <Note icon={<ToolIcon />}>{item.fragments.map(({ text }) => text).join("\n")}</Note>;
    case "enteredReviewMode":
      return <Note icon={<CheckIcon />}>{`Review began: ${item.review}`}</Note>;
    case "exitedReviewMode":
      return (
        <article class="agent" aria-label="Review">
          <Markdown text={item.review} />
        </article>
      );
    case "contextCompaction":
      return <Note icon={<PlanIcon />}>The conversation was summarized to make room</Note>;
    default:
      return <Note icon={<ToolIcon />}>{item.type}</Note>;
  }
});

interface ReasoningProps {
  readonly summary: readonly string[];
  readonly content: readonly string[];
  readonly isRunning: boolean;
}

function Reasoning({ summary, content, isRunning }: ReasoningProps) {
  const parts = summary.length > 0 ? summary : content;
  const text = parts.filter((part) => part !== "").join("\n\n");
  if (text === "" && !isRunning) return null;
  return (
    <FoldedItem
      icon={<ThoughtIcon />}
      title={isRunning ? "Thinking" : "Thought"}
      state={isRunning ? "running" : "quiet"}
    >
      {text === "" ? null : <Markdown text={text} />}
    </FoldedItem>
  );
}
