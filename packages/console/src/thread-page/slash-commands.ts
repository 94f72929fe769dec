import { argumentHint, mcpPromptCommand, runningTurn, type ThreadState } from "@bobbin/client";
import type { SkillMetadata } from "@bobbin/protocol";
import { go } from "../route.ts";
import type { Assist } from "./composer.tsx";
import * as actions from "./thread-actions.ts";
import type { ThreadPageData } from "./thread-page-data.ts";

/** A command that is typed at the beginning of a message. */
interface SlashCommand {
  readonly name: string;
  readonly description: string;
  /** The arguments that may follow the name, as help text. A command without arguments runs when it is chosen. */
  readonly args?: string;
  isOffered?(state: ThreadState): boolean;
  run(page: ThreadPageData, args: string): Promise<void> | void;
}

const isLoaded = ({ status }: ThreadState) => status.type !== "notLoaded";

const COMMANDS: readonly SlashCommand[] = [
  {
    name: "compact",
    description: "Summarizes the conversation, so that the model reads less",
    run: actions.compact,
  },
  {
    name: "review",
    args: "[instructions]",
    description: "Reviews the uncommitted changes, or what you write",
    run: actions.review,
  },
  { name: "fork", description: "Copies the thread, and opens the copy", run: actions.fork },
  {
    name: "rename",
    args: "[name]",
    description: "Gives the thread a name",
    run: (page, name) => {
      if (name !== "") return actions.rename(page, name);
      page.dialog.value = { kind: "rename" };
    },
  },
  {
    name: "undo",
    description: "Undoes the last turn, and what it changed in files; asks first",
    isOffered: ({ turns }) => turns.length > 0,
    run: actions.undoLast,
  },
  {
    name: "goal",
    args: "[objective | pause | resume | clear]",
    description: "Sets what the thread works towards by itself",
    run: ({ session, dialog }, args) => {
      switch (args) {
        case "":
          dialog.value = { kind: "goal" };
          return;
        case "pause":
          return session.setGoal({ status: "paused" });
        case "resume":
          return session.setGoal({ status: "active" });
        case "clear":
          return session.clearGoal();
        default:
          return session.setGoal({ objective: args, status: "active" });
      }
    },
  },
  { name: "model", args: "NAME", description: "Changes the model of the next turns", run: actions.setModel },
  {
    name: "interrupt",
    description: "Stops the running turn",
    isOffered: (state) => runningTurn(state) !== undefined,
    run: ({ session }) => session.interrupt(),
  },
  {
    name: "unload",
    description: "Ends the thread’s tools and processes, and keeps the conversation",
    isOffered: isLoaded,
    run: actions.unload,
  },
  {
    name: "why",
    description: "Says why the thread is loaded",
    isOffered: isLoaded,
    run: actions.explainLoad,
  },
  {
    name: "timeline",
    description: "Shows what the last turn spent its time with",
    run: (page) => page.toggleTimeline(),
  },
  { name: "archive", description: "Moves the thread to the archive", run: actions.archive },
  { name: "new", description: "Begins another thread", run: () => go("#/new") },
];

/** A skill, under a name that no command has. */
export interface SkillCommand {
  readonly name: string;
  readonly skill: SkillMetadata;
}

/** The commands for a thread in this state. Without a thread there are none, because every command needs one. */
export function offeredCommands(state: ThreadState | undefined): readonly SlashCommand[] {
  if (state === undefined) return [];
  return COMMANDS.filter(({ isOffered }) => isOffered?.(state) ?? true);
}

export function commandNamed(name: string): SlashCommand | undefined {
  return COMMANDS.find((each) => each.name === name);
}

/** The skills of a folder. */
export async function skillCommands({
  client,
  folder,
}: Pick<Assist, "client" | "folder">): Promise<readonly SkillCommand[]> {
  const { data } = await client.request("skills/list", { cwds: folder === "" ? [] : [folder] });
  const skills = data.flatMap((entry) => entry.skills).filter(({ enabled }) => enabled);
  return skills.map((skill) => {
    const isTaken = commandNamed(skill.name) !== undefined;
    return { name: (isTaken ? `skill:${skill.name}` : skill.name).replaceAll(/[\s/]+/g, "-"), skill };
  });
}

/** A command that sends a prompt with its arguments filled in. */
export interface PromptCommand {
  readonly command: string;
  readonly hint: string | null;
  readonly description: string;
}

/** The saved prompts for a folder. */
export async function savedPrompts({
  client,
  folder,
}: Pick<Assist, "client" | "folder">): Promise<readonly PromptCommand[]> {
  const { data } = await client.request("prompts/list", folder === "" ? {} : { cwd: folder });
  return data.map(({ name, argumentHint: hint, description, path }) => ({
    command: `/prompts:${name}`,
    hint,
    description: description ?? path,
  }));
}

/** The prompts of the MCP servers of a thread. A thread that is not loaded has no servers. */
export async function mcpPrompts(page: ThreadPageData | undefined): Promise<readonly PromptCommand[]> {
  if (page === undefined || !isLoaded(page.session.state.value)) return [];
  const { data } = await page.client.request("mcpServer/prompt/list", { threadId: page.session.id });
  return data.map((prompt) => ({
    command: mcpPromptCommand(prompt),
    hint: argumentHint(prompt),
    description: prompt.description ?? `A prompt of the MCP server ${prompt.server}`,
  }));
}
