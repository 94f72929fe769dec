import type { ToolCall } from "../core/turn/records.ts";
import type { ToolSpec } from "./model.ts";
import { PlainTools } from "./plain-function-tools.ts";

/** The offline model's reaction to a message: call a tool, explain why it cannot, or echo the message. */
export type OfflineReaction =
  | { readonly kind: "call"; readonly call: ToolCall }
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "echo" };

/** The commands of the offline model, as its greeting lists them. */
export const OFFLINE_WORDS: readonly { readonly tool: string | null; readonly say: string }[] = [
  { tool: "exec_command", say: "`run: ls -l` runs a command" },
  { tool: "apply_patch", say: "`write notes.txt: Hello!` writes a file" },
  {
    tool: "apply_patch",
    say: "`patch: *** Delete File: notes.txt` applies a patch, of one line or of many",
  },
  { tool: "request_user_input", say: "`ask: Tea or coffee? | Tea | Coffee` asks you" },
  { tool: "spawn_agent", say: "`help: Count the files here.` starts a helper" },
  { tool: null, say: '`call NAME {"key": "value"}` calls any tool by its name, with JSON' },
  { tool: null, say: "`tools` lists the tools of this thread" },
];

interface Command {
  readonly pattern: RegExp;
  react(found: RegExpExecArray, tools: OfflineTools): OfflineReaction;
}

const COMMANDS: readonly Command[] = [
  {
    pattern: /^run:(?<cmd>.*)$/is,
    react: ({ groups }, tools) => {
      const cmd = groups!["cmd"]!.trim();
      if (cmd === "") return say("What shall I run? Write it behind the colon, for example `run: ls`.");
      return tools.call("exec_command", { cmd }, "run commands");
    },
  },
  {
    pattern: /^patch:(?<patch>.*)$/is,
    react: ({ groups }, tools) =>
      tools.call("apply_patch", { input: wholePatch(groups!["patch"]!) }, "patch files"),
  },
  {
    pattern: /^write\s+(?<file>[^\n:]*[^\n:\s])\s*:[ \t]?\n?(?<text>.*)$/is,
    react: ({ groups }, tools) =>
      tools.call("apply_patch", { input: fileAsPatch(groups!["file"]!, groups!["text"]!) }, "write files"),
  },
  {
    pattern: /^ask:(?<question>[^|]*)(?<options>(?:\|[^|]*)*)$/is,
    react: ({ groups }, tools) => {
      const question = groups!["question"]!.trim();
      if (question === "") return say("What shall I ask you? Write it behind the colon.");
      const optionTexts = groups!["options"]!.split("|").flatMap((option) => option.trim() || []);
      const options = (optionTexts.length === 0 ? ["Yes", "No"] : optionTexts).map((label) => ({
        label,
        description: `The answer is ${JSON.stringify(label)}.`,
      }));
      const userQuestion = { id: "answer", header: "Question", question, options };
      return tools.call("request_user_input", { questions: [userQuestion] }, "ask you questions");
    },
  },
  {
    pattern: /^help:(?<task>.*)$/is,
    react: ({ groups }, tools) => {
      const message = groups!["task"]!.trim();
      if (message === "") return say("What shall the helper do? Write it behind the colon.");
      return tools.call("spawn_agent", { message }, "start helpers");
    },
  },
  {
    pattern: /^call\s+(?<name>[^\s{]+)\s*(?<json>\{.*)?$/is,
    react: ({ groups }, tools) => tools.callByName(groups!["name"]!, groups!["json"] ?? "{}"),
  },
  { pattern: /^tools\s*\??$/i, react: (_found, tools) => say(tools.toolList()) },
];

/** Parses a user's message into a reaction. */
export function reactionTo(
  message: string,
  specs: readonly ToolSpec[],
  newCallId: () => string,
): OfflineReaction {
  const text = message.trim();
  for (const { pattern, react } of COMMANDS) {
    const found = pattern.exec(text);
    if (found !== null) return react(found, new OfflineTools(specs, newCallId));
  }
  return { kind: "echo" };
}

function say(text: string): OfflineReaction {
  return { kind: "say", text };
}

class OfflineTools {
  readonly #tools: PlainTools;
  readonly #newCallId: () => string;

  constructor(specs: readonly ToolSpec[], newCallId: () => string) {
    this.#tools = new PlainTools(specs);
    this.#newCallId = newCallId;
  }

  call(name: string, args: object, doing: string): OfflineReaction {
    const found = this.#find(name);
    if (found === undefined)
      return say(`I cannot ${doing}: this thread has no tool \`${name}\`.\n\n${this.toolList()}`);
    return this.#callReaction(found.name, JSON.stringify(args));
  }

  callByName(name: string, json: string): OfflineReaction {
    const found = this.#find(name);
    if (found === undefined) return say(`There is no tool \`${name}\`.\n\n${this.toolList()}`);
    try {
      JSON.parse(json);
    } catch (cause) {
      const example = `call ${name} ${exampleOf(found.parameters)}`;
      return say(
        `What stands behind \`${name}\` is not valid JSON: ${(cause as Error).message}.\n\nIt looks like this: \`${example}\``,
      );
    }
    return this.#callReaction(found.name, json);
  }

  toolList(): string {
    const names = this.#tools.list.map(
      ({ name, parameters }) => `- \`call ${name} ${exampleOf(parameters)}\``,
    );
    return names.length === 0
      ? "This thread has no tools."
      : `The tools of this thread:\n${names.join("\n")}`;
  }

  #callReaction(name: string, json: string): OfflineReaction {
    return { kind: "call", call: this.#tools.read(this.#newCallId(), name, json) };
  }

  /** Finds a tool by the full name that models use, or by its own name if that is unambiguous. */
  #find(name: string): { readonly name: string; readonly parameters: unknown } | undefined {
    const wanted = name.replaceAll(".", "__").toLowerCase();
    const { list } = this.#tools;
    const exact = list.find((tool) => tool.name.toLowerCase() === wanted);
    if (exact !== undefined) return exact;
    const ending = list.filter((tool) => tool.name.toLowerCase().endsWith(`__${wanted}`));
    return ending.length === 1 ? ending[0] : undefined;
  }
}

/** Example arguments for a tool: the required ones, with values that only show their types. */
function exampleOf(parameters: unknown): string {
  const { properties = {}, required = [] } = (parameters ?? {}) as {
    readonly properties?: Readonly<Record<string, unknown>>;
    readonly required?: readonly string[];
  };
  const names = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  const members = names.slice(0, 4).map((name) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return `${JSON.stringify(name)}: ${exampleValue(property)}`;
  });
  return `{${members.join(", ")}}`;
}

function exampleValue(schema: unknown): string {
  const { type, enum: values } = (schema ?? {}) as { readonly type?: unknown; readonly enum?: unknown };
  if (Array.isArray(values) && values.length > 0) return JSON.stringify(values[0]);
  switch (type) {
    case "integer":
    case "number":
      return "1";
    case "boolean":
      return "true";
    case "array":
      return "[]";
    case "object":
      return "{}";
    default:
      return '"…"';
  }
}

const BEGIN = "*** Begin Patch";
const END = "*** End Patch";

function wholePatch(text: string): string {
  const patch = text.trim();
  return patch.startsWith(BEGIN) ? patch : `${BEGIN}\n${patch}\n${END}`;
}

/** A patch that creates the file, or replaces its whole content. */
function fileAsPatch(file: string, text: string): string {
  const lines = text.replace(/\n$/, "").split("\n");
  return [BEGIN, `*** Add File: ${file}`, ...lines.map((line) => `+${line}`), END].join("\n");
}
