import type { BobbinClient, Notification } from "@bobbin/client";
import type { ReviewTarget, Turn, UserInput } from "@bobbin/protocol";
import type { HostOptions } from "../compose.ts";
import type { Access } from "./exec-access-options.ts";
import { helperProgress } from "./exec-helper-progress.ts";
import { type AnswerPolicy, answerQuestions, refusedToolCall } from "./exec-question-answers.ts";
import type { ExecReport } from "./exec-report.ts";
import { COMMAND_CAPABILITIES } from "./host-client.ts";
import { openHost } from "./open-host.ts";
import { requestedConfig, resumedSettings, type TurnSettings } from "./resumed-thread-settings.ts";
import { findThread, lastThread } from "./thread-lookup.ts";

export interface TurnRequest {
  readonly work: TurnWork;
  readonly ephemeral: boolean;
  /** What clients are shown as the source of a new thread. */
  readonly threadSource?: string | undefined;
  readonly outputSchema: unknown;
  readonly access: Access;
  /** Folders of the workspace besides the working folder. */
  readonly addedRoots?: readonly string[];
  readonly policy: AnswerPolicy;
  /** The model to use instead of the configured one. */
  readonly model?: string | undefined;
  /** The thread to continue; undefined for a new one. */
  readonly resume?: Resume | undefined;
  /** Whether to use a host that already runs on the home. */
  readonly mayRunElsewhere?: boolean;
  /** Interrupts the turn. */
  readonly signal: AbortSignal;
}

/** A message for the model, or changes that it reviews. */
export type TurnWork = { readonly input: readonly UserInput[] } | { readonly review: ReviewTarget };

/** A thread, named by the user, or the one that was used last (in a folder if one is named). */
export type Resume = ({ readonly id: string } | { readonly lastIn: string | undefined }) & {
  /** The folder to work in from now on; undefined to keep that of the thread. */
  readonly cwd: string | undefined;
  /** Whether to continue in a fork of the thread. */
  readonly isForked?: boolean;
};

export interface TurnOutcome {
  readonly status: Turn["status"];
  /** The text of the last agent message. */
  readonly answer: string | undefined;
}

/**
 * Runs one turn, of a new thread or an earlier one. Uses the host that runs on the home, or a host in this process.
 */
export async function execTurn(
  hostOptions: HostOptions,
  request: TurnRequest,
  report: ExecReport,
): Promise<TurnOutcome> {
  let early!: { readonly flush: () => void };
  let threadId: string | undefined;
  const opened = await openHost(hostOptions, {
    command: "exec",
    // Include the experimental API: without it, approval requests do not list the answers that they accept.
    capabilities: COMMAND_CAPABILITIES,
    mayRunElsewhere: request.mayRunElsewhere ?? false,
    findThread: request.resume && finder(request.resume),
    prepare(client) {
      answerQuestions(client, request.policy, report);
      early = earlyWarnings(client, report);
      client.onNotification(
        helperProgress(
          () => threadId,
          (line) => report.helper(line),
        ),
      );
    },
  });
  try {
    const { settings, ...loaded } = await loadThread(opened.client, hostOptions, request);
    threadId = loaded.id;
    report.started(loaded);
    early.flush();
    return await runTurn(opened.client, threadId, settings, request, report);
  } finally {
    await opened.close();
  }
}

/**
 * Reports warnings that belong to no thread. Warnings that arrive before the thread starts are delayed until `flush`.
 */
function earlyWarnings(client: BobbinClient, report: ExecReport): { readonly flush: () => void } {
  let waiting: Notification[] | undefined = [];
  const take = (notification: Notification): void => {
    if (waiting === undefined) report.notification(notification);
    else waiting.push(notification);
  };
  client.on("configWarning", (params) => take({ method: "configWarning", params }));
  client.on("warning", (params) => {
    if (params.threadId == null) take({ method: "warning", params });
  });
  return {
    flush() {
      const early = waiting ?? [];
      waiting = undefined;
      for (const notification of early) report.notification(notification);
    },
  };
}

interface LoadedThread {
  readonly id: string;
  readonly model: string;
  readonly cwd: string;
  /** Further params of `turn/start`. */
  readonly settings: TurnSettings;
}

function finder(resume: Resume): (client: BobbinClient) => Promise<string> {
  return (client) => ("id" in resume ? findThread(client, resume.id) : lastThread(client, resume.lastIn));
}

/** Starts a thread, or resumes or forks the one that the request names. */
async function loadThread(
  client: BobbinClient,
  { cwd, overrides = [] }: Pick<HostOptions, "cwd" | "overrides">,
  request: TurnRequest,
): Promise<LoadedThread> {
  const { ephemeral, access, model, addedRoots = [], resume, threadSource } = request;
  const source = threadSource === undefined ? {} : { threadSource };
  if (resume === undefined) {
    const started = await client.request("thread/start", {
      ...{ cwd, ephemeral, ...access, ...source },
      // Not sent as `model`, because in the configuration a model may imply its provider.
      ...(model !== undefined && { config: { model } }),
      ...(addedRoots.length > 0 && { runtimeWorkspaceRoots: [cwd, ...addedRoots] }),
    });
    return { id: started.thread.id, model: started.model, cwd: started.cwd, settings: {} };
  }
  const config = await requestedConfig(overrides);
  // A thread that is loaded on a running host ignores settings of `thread/resume`: they are sent with the turn.
  const isLoading = resume.isForked || config !== undefined;
  const earlier = {
    ...{ threadId: await finder(resume)(client), excludeTurns: true },
    ...(isLoading && access),
    ...(config && { config }),
  };
  const resumed = resume.isForked
    ? await client.request("thread/fork", { ...earlier, ...source, ephemeral })
    : await client.request("thread/resume", earlier);
  const settings = resumedSettings({
    ...{ access: isLoading ? {} : access, model, addedRoots },
    ...{ cwd: resume.cwd, folder: resumed.cwd },
  });
  return { id: resumed.thread.id, model: model ?? resumed.model, cwd: resume.cwd ?? resumed.cwd, settings };
}

async function runTurn(
  client: BobbinClient,
  threadId: string,
  settings: TurnSettings,
  { work, outputSchema, signal }: TurnRequest,
  report: ExecReport,
): Promise<TurnOutcome> {
  let answer: string | undefined;
  const options = { ...settings, signal, ...(outputSchema !== undefined && { outputSchema }) };
  const notifications =
    "review" in work
      ? client.runReview(threadId, work.review, { signal })
      : client.runTurn(threadId, work.input, options);
  for await (const notification of notifications) {
    report.notification(notification);
    const decision = refusedToolCall(notification);
    if (decision !== undefined) report.decided(decision);
    const { method, params } = notification;
    if (method === "item/completed" && params.item.type === "agentMessage") answer = params.item.text;
    if (method === "turn/completed") return { status: params.turn.status, answer };
  }
  throw new Error("the turn has no end");
}
