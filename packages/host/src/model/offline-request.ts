import type { ToolCall } from "../core/turn/records.ts";
import type { ToolSpec } from "./model.ts";
import { PlainTools } from "./tool-names.ts";

/** What the offline model does about a message: call a tool, say why it cannot, or nothing but echo. */
export type OfflineReaction =
  | { readonly kind: "call"; readonly call: ToolCall }
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "echo" };

/** The words that the offline model acts on, as its greeting shows them. */
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

interface Words {
  readonly pattern: RegExp;
  react(found: RegExpExecArray, tools: OfflineTools): OfflineReaction;
}

const WORDS: readonly Words[] = [
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
      const given = groups!["options"]!.split("|").flatMap((option) => option.trim() || []);
      const options = (given.length === 0 ? ["Yes", "No"] : given).map((label) => ({
        label,
        description: `The answer is ${JSON.stringify(label)}.`,
      }));
      const asked = { id: "answer", header: "Question", question, options };
      return tools.call("request_user_input", { questions: [asked] }, "ask you questions");
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
  { pattern: /^tools\s*\??$/i, react: (_found, tools) => say(tools.described()) },
];

/** Reads what a user says. */
export function reactionTo(
  said: string,
  specs: readonly ToolSpec[],
  newCallId: () => string,
): OfflineReaction {
  const text = said.trim();
  for (const { pattern, react } of WORDS) {
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
      return say(`I cannot ${doing}: this thread has no tool \`${name}\`.\n\n${this.described()}`);
    return this.#called(found.name, JSON.stringify(args));
  }

  callByName(name: string, json: string): OfflineReaction {
    const found = this.#find(name);
    if (found === undefined) return say(`There is no tool \`${name}\`.\n\n${this.described()}`);
    try {
      JSON.parse(json);
    } catch (cause) {
      const example = `call ${name} ${exampleOf(found.parameters)}`;
      return say(
        `What stands behind \`${name}\` is not valid JSON: ${(cause as Error).message}.\n\nIt looks like this: \`${example}\``,
      );
    }
    return this.#called(found.name, json);
  }

  described(): string {
    const names = this.#tools.list.map(
      ({ name, parameters }) => `- \`call ${name} ${exampleOf(parameters)}\``,
    );
    return names.length === 0
      ? "This thread has no tools."
      : `The tools of this thread:\n${names.join("\n")}`;
  }

  #called(name: string, json: string): OfflineReaction {
    return { kind: "call", call: this.#tools.read(this.#newCallId(), name, json) };
  }

  /** By the name that models call it by, or by its own if no other tool has that. */
  #find(name: string): { readonly name: string; readonly parameters: unknown } | undefined {
    const wanted = name.replaceAll(".", "__").toLowerCase();
    const { list } = this.#tools;
    const exact = list.find((tool) => tool.name.toLowerCase() === wanted);
    if (exact !== undefined) return exact;
    const ending = list.filter((tool) => tool.name.toLowerCase().endsWith(`__${wanted}`));
    return ending.length === 1 ? ending[0] : undefined;
  }
}

/** Arguments that a tool could be called with: those that it requires, with values that only show their type. */
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

/** A patch that makes the file, or replaces all of it. */
function fileAsPatch(file: string, text: string): string {
  const lines = text.replace(/\n$/, "").split("\n");
  return [BEGIN, `*** Add File: ${file}`, ...lines.map((line) => `+${line}`), END].join("\n");
}
