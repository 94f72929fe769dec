import type { QueuedSubmission, UserInput } from "@bobbin/protocol";
import type { ComponentChildren } from "preact";
import { CrossIcon, UndoIcon, UpIcon } from "../parts/icons.tsx";
import { attempt } from "../parts/request-failure.ts";
import type { ThreadPageData } from "./thread-page-data.ts";

interface Props {
  readonly page: ThreadPageData;
  readonly queue: readonly QueuedSubmission[];
  readonly isRunning: boolean;
}

/**
 * The queued messages of a thread. Each is sent when the running turn has ended; after an interrupt, only when a user
 * presses "Send now".
 */
export function Queue({ page, queue, isRunning }: Props) {
  const { client, session } = page;
  const threadId = session.id;
  const remove = (queuedSubmissionId: string) =>
    client.request("thread/queue/delete", { threadId, queuedSubmissionId });
  const moveUp = (at: number) => {
    const ids = queue.map(({ id }) => id);
    ids.splice(at - 1, 2, ids[at]!, ids[at - 1]!);
    return client.request("thread/queue/reorder", { threadId, queuedSubmissionIds: ids });
  };
  const sendNow = async (queuedSubmissionId: string) => {
    await session.load();
    await client.request("thread/queue/start", { threadId, queuedSubmissionId });
  };
  /** Moves a queued message back into the message field, unless another client has sent or removed it meanwhile. */
  const takeBack = async ({ id, input }: QueuedSubmission) => {
    const { deleted } = await remove(id);
    if (deleted) session.draft.value = textOf(input);
  };
  return (
    <ol class="queue" aria-label="Queued messages">
      {queue.map((submission, at) => {
        const { id, input } = submission;
        const button = (label: string, icon: ComponentChildren, act: () => Promise<unknown>) => (
          <button
            type="button"
            class="quiet small"
            aria-label={label}
            title={label}
            onClick={() => void attempt(act)}
          >
            {icon}
          </button>
        );
        return (
          <li key={id}>
            <span class="dim">Queued</span>
            <span class="text">{inputText(input)}</span>
            {isRunning ? null : (
              <button type="button" class="small" onClick={() => void attempt(() => sendNow(id))}>
                Send now
              </button>
            )}
            {at === 0 ? null : button("Move up", <UpIcon />, () => moveUp(at))}
            {input.every(({ type }) => type === "text")
              ? button("Take back into the field", <UndoIcon />, () => takeBack(submission))
              : null}
            {button("Remove from the queue", <CrossIcon />, () => remove(id))}
          </li>
        );
      })}
    </ol>
  );
}

function textOf(input: readonly UserInput[]): string {
  return input.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** The text of a message, with the number of its pictures. Mentions and skills are already in the text. */
function inputText(input: readonly UserInput[]): string {
  const pictures = input.filter(({ type }) => type === "image" || type === "localImage").length;
  const others = pictures === 0 ? "" : pictures === 1 ? "(a picture)" : `(${pictures} pictures)`;
  return [textOf(input), others].filter((text) => text !== "").join(" ") || "(no text)";
}
