import type { ThreadBackgroundTerminal } from "@bobbin/protocol";
import type { Command } from "../../core/commands.ts";
import type { CommandEffect } from "../../core/next.ts";
import type { Commit } from "../../core/records.ts";
import type { DueNetworkRule } from "../../core/requests/records.ts";
import type { ThreadState } from "../../core/state.ts";
import type { ProcessOwner } from "../../process/process-manager.ts";
import { patchTool } from "../patch/apply-patch-tool.ts";
import { withPatches } from "../patch/patch-command-routing.ts";
import type { LiveOutput, SourceEffects, Tool, ToolSource } from "../tool.ts";
import { EnvironmentVariableNotes } from "./environment-variable-notes.ts";
import { execCommand } from "./exec-command.ts";
import type { ExecPorts } from "./exec-dependencies.ts";
import { type HookShellCommand, type HookShellCommandEnd, runHookCommand } from "./hook-command.ts";
import { NetworkApprovals } from "./network-approvals.ts";
import { cutAndSave } from "./output-for-model.ts";
import type { RunningCommand } from "./running-command.ts";
import { ThreadCommands } from "./thread-commands.ts";
import { startUserShell, type UserShell } from "./user-shell-command.ts";
import { writeStdin } from "./write-stdin.ts";

/** Limit on the tokens of unread output that the model gets when a background terminal ends. */
const NOTE_TOKENS = 2_000;

/**
 * Limit on how long an unload waits for the thread's processes. A process that waits for a disk cannot be killed at
 * once.
 */
const LEAVE_MS = 5_000;

/** The tool source for commands: those of models, their background terminals, and those that users run in a thread. */
export class ExecSource implements ToolSource {
  readonly effects: SourceEffects;
  readonly #ports: ExecPorts;
  readonly #commands = new ThreadCommands();
  readonly #notes: EnvironmentVariableNotes;
  readonly #questions: NetworkApprovals;
  readonly #tools: readonly Tool[];

  constructor(ports: ExecPorts) {
    this.#ports = ports;
    this.#notes = new EnvironmentVariableNotes(ports);
    this.#questions = new NetworkApprovals(ports.network);
    this.#tools = [
      withPatches(execCommand(ports, this.#commands, this.#questions, this.#notes), patchTool(ports.patches)),
      writeStdin(ports, this.#commands),
    ];
    this.effects = {
      command: (effect, { facts }, signal, live) => this.#followCommand(effect, facts.id, signal, live),
      networkRule: ({ rule }, { facts }) => this.#saveRule(facts.id, rule),
    };
  }

  /** The path of the shell that runs commands. */
  get shell(): string {
    return this.#ports.shell;
  }

  tools(thread: ThreadState): readonly Tool[] {
    return this.#ports.mayRun(thread) ? this.#tools : [];
  }

  leave(threadId: string): Promise<void> | undefined {
    const owner = this.#commands.leave(threadId);
    if (owner === undefined) return undefined;
    let over = (): void => {};
    const tooLong = new Promise<void>((resolve) => {
      over = this.#ports.platform.timers.after(LEAVE_MS, resolve);
    });
    return Promise.race([this.#allEnded(threadId, owner), tooLong]).finally(over);
  }

  /** Ends the thread's commands. Resolves when they have ended and their sandboxes are removed. */
  async #allEnded(threadId: string, owner: ProcessOwner): Promise<void> {
    await this.#commands.startsSettled(threadId);
    const ended = this.#commands.of(threadId).map((command) => command.ended);
    await Promise.all([this.#ports.processes.end(owner), ...ended]);
  }

  load(thread: ThreadState): void {
    this.#ports.loaded(thread);
  }

  unload(threadId: string): void {
    this.#ports.unloaded(threadId);
    const owner = this.#commands.takeOwner(threadId);
    if (owner !== undefined)
      this.#ports.supervisor.take("ending a thread's processes", this.#ports.processes.end(owner));
  }

  committed(commit: Commit): void {
    this.#questions.committed(commit);
  }

  /** Runs a command of the configuration (a hook) in the thread's sandbox. Never rejects. */
  runHookCommand(
    thread: ThreadState,
    command: HookShellCommand,
    signal: AbortSignal,
  ): Promise<HookShellCommandEnd> {
    return runHookCommand(this.#ports, this.#commands, thread, command, signal);
  }

  /** Remembers a user's command until its item is durable. Then the `command` effect starts the command. */
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

  /** Drops a prepared command whose item could not be recorded. */
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

  /** Ends a background terminal. Returns false if none with this process ID runs. */
  terminate({ facts, terminals }: ThreadState, processId: string): boolean {
    const terminal = terminals.find((one) => one.processId === processId);
    const running = terminal && this.#commands.get(facts.id, terminal.item.id);
    running?.terminate();
    return running !== undefined;
  }

  /** Saves a network rule that the user accepted. A failure is only reported, and the command continues. */
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

  /**
   * Performs the `command` effect: starts a prepared user command, or follows a background terminal, until the
   * command has ended.
   */
  async #followCommand(
    { turnId, itemId, processId }: CommandEffect,
    threadId: string,
    signal: AbortSignal,
    live: LiveOutput,
  ): Promise<Command> {
    const { clock } = this.#ports.platform;
    const prepared = this.#commands.takePrepared(itemId);
    let running = this.#commands.get(threadId, itemId);
    try {
      if (running === undefined && (await this.#commands.stays(threadId, signal)))
        running = await prepared?.(turnId, live);
    } catch (cause) {
      const output = `The command cannot be started: ${(cause as Error).message}\n`;
      return { kind: "endCommand", at: clock.now(), itemId, end: { exitCode: -1, output } };
    }
    if (running === undefined)
      return { kind: "endCommand", at: clock.now(), itemId, end: { exitCode: -1, output: "" } };
    this.#commands.add(threadId, itemId, running);
    const stop = (): void => running.terminate();
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    const end = await running.endedUnread();
    const stays = await this.#commands.stays(threadId, signal);
    signal.removeEventListener("abort", stop);
    this.#commands.delete(threadId, itemId);
    // No file is made for a thread that is unloaded: it may be deleted.
    const note = processId === null || !stays ? undefined : await endNote(processId, running, end.exitCode);
    return { kind: "endCommand", at: clock.now(), itemId, end, ...(note !== undefined && { note }) };
  }
}

/** The note that informs the model of a background terminal's end. */
async function endNote(processId: string, running: RunningCommand, exitCode: number): Promise<string> {
  const how = running.wasTerminated ? "was terminated" : `ended with exit code ${exitCode}`;
  const { text } = await cutAndSave(running.takeUnread(), NOTE_TOKENS, () => running.saveOutput());
  const output = text === "" ? "" : ` It has written since you last looked:\n${text}`;
  return `The command with session ID ${processId} ${how}: ${running.command.slice(0, 500)}.${output}`;
}
