import { type Bobbin, type Notification, runningTurn } from "@bobbin/client";
import { RpcError } from "@bobbin/rpc";
import type { HostOptions } from "../compose.ts";
import { messageOf } from "../errors.ts";
import { logFor } from "../observe/log.ts";
import { openChatHost } from "./chat-host.ts";
import { runPipedChat, runTerminalChat } from "./chat-input-loop.ts";
import { ChatLineEditor } from "./chat-line-editor.ts";
import { ChatSession } from "./chat-session.ts";
import { ChatSignals } from "./chat-signals.ts";
import {
  loadThread,
  messagesOf,
  type RequestedThread,
  resumedThread,
  showEarlier,
  showRunning,
} from "./chat-thread.ts";
import { CommandFailure } from "./command-failure.ts";
import { helperProgress } from "./exec-helper-progress.ts";
import { type QuestionReport, questionAnswers, StartedChanges } from "./exec-question-answers.ts";
import { TextReport } from "./exec-text-report.ts";
import { escapeControls, Output } from "./terminal-output.ts";
import { TerminalUser } from "./terminal-questions.ts";
import { inputText } from "./threads-show.ts";
import { type Refuse, readTurnSetup, type TurnOptions } from "./turn-setup.ts";

export interface ChatOptions extends TurnOptions {
  /** The thread to continue; true for the one that was used last in this folder. */
  readonly resume?: string | true;
  /** For how many seconds the chat tries to reconnect to a host in another process. */
  readonly reconnect: number;
}

/** Time limit for closing the connection, and a host in this process. */
const CLOSE_MS = 10_000;

/** Notifications that are shown even while no turn is running. */
const BESIDES_TURNS: ReadonlySet<string> = new Set([
  "warning",
  "guardianWarning",
  "deprecationNotice",
  "error",
]);

/** Runs `bobbin chat`. Resolves with the exit code. */
export async function chat(options: ChatOptions, refuse: Refuse): Promise<number> {
  const stdout = new Output(process.stdout);
  const stderr = new Output(process.stderr);
  const { cwd, access, addedRoots, mayRunElsewhere, hostOptions } = await readTurnSetup(options, refuse);
  const isInteractive = process.stdin.isTTY && stdout.columns > 0 && stderr.isTerminal;
  const person = isInteractive ? TerminalUser.at(process.stdin, stderr) : undefined;
  // Keeps the process alive: the host's timers do not.
  const alive = setInterval(() => {}, 2 ** 30);
  const signals = new ChatSignals((line) => stderr.line(line));
  try {
    // The report shows warnings of the thread: the log would show them again.
    const log = logFor(process.env, "error", (text) => stderr.write(text));
    const host = await hostOptions(person, signals.ended, log);
    const { model, resume, reconnect } = options;
    const requested = { cwd, addedRoots, access, model, resume, movesTo: options.cd && cwd };
    const runOptions = { mayRunElsewhere, reconnectMs: reconnect * 1_000, person, stdout, stderr, signals };
    return await run(host, requested, runOptions);
  } catch (cause) {
    if (!(cause instanceof RpcError || cause instanceof CommandFailure)) throw cause;
    stderr.line(stderr.red(`bobbin: ${escapeControls(messageOf(cause))}`));
    return 1;
  } finally {
    signals.leave();
    person?.close();
    await stdout.flushed();
    await stderr.flushed();
    // The signal handlers stay: without one, a further Ctrl-C would kill the process before it exits with its code.
    clearInterval(alive);
  }
}

interface ChatRunOptions {
  readonly mayRunElsewhere: boolean;
  readonly reconnectMs: number;
  /** Undefined if the chat is not on a terminal. */
  readonly person: TerminalUser | undefined;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly signals: ChatSignals;
}

async function run(
  hostOptions: HostOptions,
  requested: RequestedThread,
  options: ChatRunOptions,
): Promise<number> {
  const { mayRunElsewhere, person, stdout, stderr, signals } = options;
  const report = new TextReport(stdout, stderr, { diffs: person !== undefined });
  let session: ChatSession | undefined;
  const { answers, onNotification } = listeners(report, person, () => session?.threadId);
  const opening = openChatHost(hostOptions, {
    ...{ mayRunElsewhere, answers, onNotification },
    thread: () => {
      const known = session?.threadId;
      return known === undefined ? resumedThread(requested) : async () => known;
    },
  });
  const opened = await signals.unlessEnded(opening);
  if (opened === undefined) return signals.exitCode!;
  try {
    const loaded = await signals.unlessEnded(
      whileConnected(opened.bobbin, loadThread(opened.bobbin, requested)),
    );
    if (loaded === undefined) return signals.exitCode!;
    const { thread, settings, model, cwd } = loaded;
    const prompt = new ChatLineEditor(process.stdin, process.stdout, messagesOf(thread));
    const notice = (text: string): void => {
      prompt.withdraw();
      report.helper(text);
    };
    // Nothing may be awaited from here until `showRunning` returns: the session would report new notifications before
    // the earlier part of the thread is shown.
    session = new ChatSession(opened.bobbin, thread, {
      settings,
      reconnectMs: opened.isRunning ? options.reconnectMs : 0,
      report: {
        notification(notification) {
          if (BESIDES_TURNS.has(notification.method)) prompt.withdraw();
          report.notification(notification);
        },
        otherTurn: () => notice("Another client has started a turn. Ctrl-C interrupts it."),
        otherMessage: (content) => notice(`> ${inputText(content)}`),
        lost: () => notice("The connection to the host was lost; reconnecting …"),
        back: () => notice("Connected again."),
        gap: () =>
          notice(
            `Some of what happened meanwhile cannot be shown here: bobbin threads show ${thread.id} shows the thread.`,
          ),
        ended: () => prompt.withdraw(),
      },
    });
    report.started({ id: thread.id, model, cwd });
    for (const warning of thread.state.warnings) report.helper(`warning: ${warning}`);
    signals.ended.addEventListener("abort", () => prompt.withdraw(), { once: true });
    if (person !== undefined) {
      if (requested.resume !== undefined) showEarlier(thread, stdout);
      else stderr.line(stderr.dim("Type a message; /help lists commands, Ctrl-D leaves."));
      if (runningTurn(thread.state) !== undefined) report.helper("A turn is running. Ctrl-C interrupts it.");
    }
    showRunning(thread, report);
    if (person === undefined) return await runPipedChat(session, options);
    const code = await runTerminalChat(session, prompt, options);
    if (session.endReason === undefined || opened.isRunning)
      stderr.line(stderr.dim(`Go on later:  bobbin chat --resume ${thread.id}`));
    return code;
  } finally {
    signals.leave();
    session?.close();
    // After a second Ctrl-C, the process does not wait for the close.
    if (!signals.isUrgent) await withinLimit(opened.close());
  }
}

/** The callbacks that must exist before the first connection: answers to questions, and the notification listener. */
function listeners(report: TextReport, person: TerminalUser | undefined, threadId: () => string | undefined) {
  const questions: QuestionReport = {
    asking: () => report.asking(),
    // The flags of `exec` that would change an answer do not exist here, so no advice is shown.
    decided: (decision) =>
      report.decided(
        decision.kind === "authorization"
          ? decision
          : { ...decision, change: person === undefined ? "On a terminal you are asked." : null },
      ),
  };
  const changes = new StartedChanges();
  const helpers = helperProgress(threadId, (line) => report.helper(line));
  // Each new connection receives the same warnings. They are shown once.
  const warnings = new Set<string>();
  return {
    answers: questionAnswers({ approve: false, answer: undefined, person }, questions, changes),
    onNotification(notification: Notification): void {
      const { method, params } = notification;
      if (method === "configWarning" && !warnings.has(params.summary)) {
        warnings.add(params.summary);
        report.notification(notification);
      }
      changes.onNotification(notification);
      helpers(notification);
    },
  };
}

/** Waits for `work`. Rejects if the connection is lost: without a loaded thread, the chat does not reconnect. */
async function whileConnected<T>(bobbin: Bobbin, work: Promise<T>): Promise<T> {
  let stop = () => {};
  const lost = new Promise<never>((_resolve, reject) => {
    stop = bobbin.onConnection((status) => {
      if (status.state !== "connecting") return;
      reject(new CommandFailure(`the connection to the host has ended: ${status.error?.message}`));
    });
  });
  try {
    return await Promise.race([work, lost]);
  } finally {
    stop();
  }
}

async function withinLimit(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CLOSE_MS);
  });
  try {
    await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
