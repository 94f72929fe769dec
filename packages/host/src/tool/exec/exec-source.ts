import type { ThreadBackgroundTerminal } from "@bobbin/protocol";
import type { Command } from "../../core/commands.ts";
import type { CommandEffect } from "../../core/next.ts";
import type { Commit } from "../../core/records.ts";
import type { DueNetworkRule } from "../../core/requests/records.ts";
import type { ThreadState } from "../../core/state.ts";
import { patchTool } from "../patch/apply-patch.ts";
import { withPatches } from "../patch/command-patches.ts";
import type { LiveOutput, SourceEffects, Tool, ToolSource } from "../tool.ts";
import { cutMiddle } from "./cut-middle.ts";
import { EnvironmentNotes } from "./environment-notes.ts";
import { execCommand } from "./exec-command.ts";
import { NetworkQuestions } from "./network-questions.ts";
import type { ExecPorts } from "./ports.ts";
import type { RunningCommand } from "./running-command.ts";
import { ThreadCommands } from "./thread-commands.ts";
import { startUserShell, type UserShell } from "./user-shell.ts";
import { writeStdin } from "./write-stdin.ts";

/** How much of an unread output the model is given when a background terminal ends. */
const NOTE_TOKENS = 2_000;

/** Runs commands: those of models, background terminals, and those of users. */
export class ExecSource implements ToolSource {
  readonly effects: SourceEffects;
  readonly #ports: ExecPorts;
  readonly #commands = new ThreadCommands();
  readonly #notes: EnvironmentNotes;
  readonly #questions: NetworkQuestions;
  readonly #tools: readonly Tool[];

  constructor(ports: ExecPorts) {
    this.#ports = ports;
    this.#notes = new EnvironmentNotes(ports);
    this.#questions = new NetworkQuestions(ports.network);
    this.#tools = [
      withPatches(execCommand(ports, this.#commands, this.#questions, this.#notes), patchTool(ports.patches)),
      writeStdin(ports, this.#commands),
    ];
    this.effects = {
      command: (effect, thread, signal, live) => this.#attend(effect, thread, signal, live),
      networkRule: ({ rule }, { facts }) => this.#saveRule(facts.id, rule),
    };
  }

  /** The path of the shell that commands run in. */
  get shell(): string {
    return this.#ports.shell;
  }

  tools(thread: ThreadState): readonly Tool[] {
    return this.#ports.mayRun(thread) ? this.#tools : [];
  }

  unload(threadId: string): void {
    const owner = this.#commands.takeOwner(threadId);
    if (owner !== undefined)
      this.#ports.supervisor.take("ending a thread's processes", this.#ports.processes.end(owner));
  }

  committed(commit: Commit): void {
    this.#questions.committed(commit);
  }

  /** Keeps what the user wants to run until it is durable that it runs. */
  prepareShell(threadId: string, shell: UserShell): void {
    this.#commands.prepare(shell.item.id, (turnId, live) =>
      startUserShell(
        this.#ports,
        this.#commands.owner(threadId),
        (problem) => this.#notes.warnOfLogin(threadId, problem),
        shell,
        turnId,
        live,
      ),
    );
  }

  /** The command could not be recorded. */
  forgetShell(itemId: string): void {
    this.#commands.takePrepared(itemId);
  }

  backgroundTerminals({ facts, terminals }: ThreadState): readonly ThreadBackgroundTerminal[] {
    return terminals.map(({ item, processId }) => {
      const running = this.#commands.get(facts.id, item.id);
      return {
        itemId: item.id,
        processId,
        command: running?.command ?? item.command,
        cwd: item.cwd,
        osPid: running?.pid ?? null,
        cpuPercent: null,
        rssKb: null,
      };
    });
  }

  /** Ends a background terminal; false if there is none of that name. */
  terminate({ facts, terminals }: ThreadState, processId: string): boolean {
    const terminal = terminals.find((one) => one.processId === processId);
    const running = terminal && this.#commands.get(facts.id, terminal.item.id);
    running?.terminate();
    return running !== undefined;
  }

  /** A rule that cannot be saved holds up nothing. */
  async #saveRule(threadId: string, rule: DueNetworkRule): Promise<Command> {
    try {
      await this.#ports.addNetworkRule(rule);
    } catch (cause) {
      this.#ports.supervisor.report("saving a rule for a host", cause);
      this.#ports.warn(
        threadId,
        `The rule for ${rule.host} could not be saved: ${(cause as Error).message}. It counts for this command only.`,
      );
    }
    return {
      kind: "networkRuleSaved",
      at: this.#ports.platform.clock.now(),
      requestId: rule.requestId,
    };
  }

  /** Sees a command through that no call waits for. */
  async #attend(
    { turnId, itemId, processId }: CommandEffect,
    { facts }: ThreadState,
    signal: AbortSignal,
    live: LiveOutput,
  ): Promise<Command> {
    const { clock } = this.#ports.platform;
    const prepared = this.#commands.takePrepared(itemId);
    let running = this.#commands.get(facts.id, itemId);
    try {
      running ??= await prepared?.(turnId, live);
    } catch (cause) {
      const output = `The command cannot be started: ${(cause as Error).message}\n`;
      return { kind: "endCommand", at: clock.now(), itemId, end: { exitCode: -1, output } };
    }
    if (running === undefined)
      return { kind: "endCommand", at: clock.now(), itemId, end: { exitCode: -1, output: "" } };
    this.#commands.add(facts.id, itemId, running);
    const stop = (): void => running.terminate();
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    const end = await running.endedUnread();
    signal.removeEventListener("abort", stop);
    this.#commands.delete(facts.id, itemId);
    const note = processId === null ? undefined : endNote(processId, running, end.exitCode);
    return { kind: "endCommand", at: clock.now(), itemId, end, ...(note !== undefined && { note }) };
  }
}

/** What the model is told of a background terminal that has ended. */
function endNote(processId: string, running: RunningCommand, exitCode: number): string {
  const how = running.wasTerminated ? "was terminated" : `ended with exit code ${exitCode}`;
  const { text } = cutMiddle(running.takeUnread(), NOTE_TOKENS);
  const output = text === "" ? "" : ` It has written since you last looked:\n${text}`;
  return `The command with session ID ${processId} ${how}: ${running.command.slice(0, 500)}.${output}`;
}
