import { createHash } from "node:crypto";
import { basename, isAbsolute, join } from "node:path";
import type { FeedbackSettings } from "../config/feedback-settings.ts";
import { Fault, fault, messageOf } from "../errors.ts";
import type { Platform } from "../platform/platform.ts";
import { redactValue } from "./redact-secrets.ts";
import { type Attachment, type ReportFacts, writeReport } from "./report-file.ts";

/** Limit on one attachment; of a larger file only the end is included. */
export const MAX_ATTACHMENT_BYTES = 16 * 1024 * 1024;
const MAX_EXTRA_FILES = 20;
const MAX_REASON_CHARACTERS = 65_536;
const UPLOAD_MS = 60_000;
/** Limit on the shown part of the text with which the endpoint refuses a report. */
const MAX_REFUSAL_CHARACTERS = 500;

/** A problem report by a user. */
export interface Feedback {
  readonly classification: string;
  readonly reason: string | null;
  readonly threadId: string | null;
  readonly includeLogs: boolean;
  readonly extraLogFiles: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
}

/** The parts of a report that concern its thread. */
export interface ReportedThread {
  /** The end of the thread's journal, one JSON object per line. */
  readonly journal: string;
  readonly instructions: string;
}

export interface FeedbackPorts {
  readonly home: string;
  readonly platform: Pick<Platform, "files" | "clock" | "ids" | "fetch" | "timers">;
  readonly settings: () => FeedbackSettings;
  /** Creates a function that redacts secrets, by the current configuration. */
  redactor(): Promise<(text: string) => string>;
  recentLog(): string;
  /** Facts about the host. */
  facts(): ReportFacts;
}

/** A report that was written. */
export interface CreatedReport {
  /** The thread's id, or a generated id for a report without a thread. */
  readonly threadId: string;
  readonly promptHash: string | null;
  readonly path: string;
  /** The endpoint that the report was sent to; null if it was not sent. */
  readonly sentTo: string | null;
}

/** Creates problem reports: ZIP files with logs and journal, without secrets. */
export class FeedbackReports {
  readonly #ports: FeedbackPorts;

  constructor(ports: FeedbackPorts) {
    this.#ports = ports;
  }

  /** Writes a report to a path where no file exists. `thread` is undefined if the reported thread does not exist. */
  async save(feedback: Feedback, thread: ReportedThread | undefined, path: string): Promise<CreatedReport> {
    const { platform, settings } = this.#ports;
    if (!settings().enabled) throw fault("feedbackDisabled");
    if (!isAbsolute(path)) throw fault("feedbackPath");
    const redact = await this.#ports.redactor();
    const threadId = feedback.threadId ?? `no-active-thread-${platform.ids.uuid()}`;
    const promptHash = thread === undefined ? null : hashOf(thread.instructions);
    const facts = {
      threadId,
      classification: feedback.classification,
      reason: feedback.reason === null ? null : redact(feedback.reason.slice(0, MAX_REASON_CHARACTERS)),
      tags: Object.fromEntries(
        Object.entries(feedback.tags).map(([name, value]) => [
          redact(name),
          redactValue(name, value, redact),
        ]),
      ),
      promptHash,
      createdAtMs: platform.clock.now(),
      ...this.#ports.facts(),
    };
    const attachments: Attachment[] = [];
    if (feedback.includeLogs) {
      attachments.push({ name: "bobbin.log", type: "text/plain", content: redact(this.#ports.recentLog()) });
      if (thread !== undefined)
        attachments.push({
          name: "journal.jsonl",
          type: "application/json",
          content: redact(thread.journal),
        });
    }
    const { extraLogFiles } = feedback;
    if (extraLogFiles.length > MAX_EXTRA_FILES)
      throw fault(
        "feedbackFailed",
        `${extraLogFiles.length} files are named, and at most ${MAX_EXTRA_FILES} fit`,
      );
    for (const extra of extraLogFiles)
      attachments.push({
        // Names in a ZIP file must not contain backslashes.
        name: basename(extra).replaceAll("\\", "_"),
        type: "text/plain",
        content: redact(await this.#endOf(extra)),
      });
    try {
      await writeReport(platform.files, path, facts, attachments);
    } catch (cause) {
      if ((cause as { code?: unknown }).code === "EEXIST") throw fault("feedbackExists", path);
      throw fault("feedbackFailed", messageOf(cause));
    }
    return { threadId, promptHash, path, sentTo: null };
  }

  /** Writes a report to the host's home, and sends it to the configured endpoint, if there is one. */
  async upload(feedback: Feedback, thread: ReportedThread | undefined): Promise<CreatedReport> {
    const { home, platform, settings } = this.#ports;
    const path = join(home, "feedback", `${platform.ids.uuid()}.zip`);
    const made = await this.save(feedback, thread, path);
    const { endpoint } = settings();
    if (endpoint === null) return made;
    await this.#send(path, endpoint);
    return { ...made, sentTo: endpoint };
  }

  async #send(path: string, endpoint: string): Promise<void> {
    const { platform } = this.#ports;
    const controller = new AbortController();
    const cancel = platform.timers.after(UPLOAD_MS, () =>
      controller.abort(new Error(`no answer within ${UPLOAD_MS / 1000} s`)),
    );
    try {
      const body = await wholeFile(platform.files, path);
      const reply = await platform.fetch(endpoint, {
        method: "POST",
        headers: { "content-type": "application/zip" },
        body: body as Uint8Array<ArrayBuffer>,
        redirect: "error",
        signal: controller.signal,
      });
      if (reply.ok) return await reply.body?.cancel();
      const words = (await reply.text()).slice(0, MAX_REFUSAL_CHARACTERS);
      throw fault("feedbackRefused", endpoint, reply.status, words, path);
    } catch (cause) {
      if (cause instanceof Fault) throw cause;
      throw fault("feedbackNotSent", endpoint, messageOf(cause), path);
    } finally {
      cancel();
    }
  }

  /** The end of a file that the user attaches. */
  async #endOf(path: string): Promise<string> {
    if (!isAbsolute(path)) throw fault("feedbackAttachment", path, "the path is not absolute");
    try {
      const file = await this.#ports.platform.files.openRead(path);
      if (file === undefined) throw new Error("there is no such file");
      try {
        const size = await file.size();
        const from = Math.max(0, size - MAX_ATTACHMENT_BYTES);
        const text = Buffer.from(await file.read(from, size - from)).toString("utf8");
        return from === 0 ? text : `[the first ${from} bytes are left out]\n${text}`;
      } finally {
        await file.close();
      }
    } catch (cause) {
      throw fault("feedbackAttachment", path, messageOf(cause));
    }
  }
}

async function wholeFile(files: Pick<Platform["files"], "openRead">, path: string): Promise<Uint8Array> {
  const file = await files.openRead(path);
  if (file === undefined) throw new Error(`${path} is gone`);
  try {
    return await file.read(0, await file.size());
  } finally {
    await file.close();
  }
}

/** Hashes instructions so that differences in whitespace do not matter. */
function hashOf(instructions: string): string {
  return createHash("sha256").update(instructions.split(/\s+/).join(" ").trim()).digest("hex");
}
