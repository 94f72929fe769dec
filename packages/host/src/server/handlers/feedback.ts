import type { FeedbackUploadParams } from "@bobbin/protocol";
import { Fault } from "../../errors.ts";
import { type Feedback, MAX_ATTACHMENT_BYTES, type ReportedThread } from "../../feedback/feedback-reports.ts";
import { journalTail } from "../../history/journal-tail.ts";
import { parseThreadId } from "../../thread/thread-id.ts";
import type { Connection } from "../connection.ts";
import { accessOf, type HandlerContext } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";

/** Handlers for reports of problems. */
export function feedbackHandlers(context: HandlerContext): MethodHandlers {
  return {
    async "feedback/upload"(params, { connection, reply }) {
      const thread = await reportedThread(context, connection, params);
      const reports = await context.feedback();
      const { threadId, promptHash, path, sentTo } = await reports.upload(feedbackOf(params), thread);
      const ours = { savedPath: path, ...(sentTo !== null && { sentTo }) };
      reply({ threadId, promptHash, ...(connection.client?.experimental && ours) });
    },

    async "feedback/save"(params, { connection, reply }) {
      const thread = await reportedThread(context, connection, params);
      const reports = await context.feedback();
      const made = await reports.save(feedbackOf(params), thread, params.savePath);
      reply({ threadId: made.threadId, promptHash: made.promptHash, savedPath: made.path });
    },
  };
}

function feedbackOf(params: FeedbackUploadParams): Feedback {
  return {
    classification: params.classification,
    reason: params.reason ?? null,
    threadId: params.threadId == null ? null : parseThreadId(params.threadId),
    includeLogs: params.includeLogs ?? false,
    extraLogFiles: params.extraLogFiles ?? [],
    tags: params.tags ?? {},
  };
}

/** The reported thread; undefined if it does not exist or cannot be read. The report is then made without it. */
async function reportedThread(
  { registry, instructionsOf }: HandlerContext,
  connection: Connection,
  { threadId }: FeedbackUploadParams,
): Promise<ReportedThread | undefined> {
  if (threadId == null) return undefined;
  try {
    return await registry.read(parseThreadId(threadId), accessOf(connection), async (journal, state) => ({
      journal: await journalTail(journal, MAX_ATTACHMENT_BYTES),
      instructions: instructionsOf(state),
    }));
  } catch (cause) {
    if (cause instanceof Fault && UNREADABLE.has(cause.code)) return undefined;
    throw cause;
  }
}

const UNREADABLE: ReadonlySet<string> = new Set([
  "threadNotLoaded",
  "threadNotFound",
  "noRollout",
  "journalDamaged",
]);
