/** Says what is wrong with a value, in the words that clients of this protocol know; undefined: nothing is. */
type Shape = (value: unknown) => string | undefined;

type Fields = { readonly [name: string]: Shape };

const text: Shape = (value) => (typeof value === "string" ? undefined : invalid(value, "a string"));
const tag: Shape = (value) => (typeof value === "string" ? undefined : invalid(value, "variant identifier"));
const anything: Shape = (value) => (value === undefined ? "nothing" : undefined);

function optional(shape: Shape): Shape {
  return (value) => (value == null ? undefined : shape(value));
}

function list(shape: Shape): Shape {
  return (value) => (Array.isArray(value) ? firstProblem(value, shape) : invalid(value, "a sequence"));
}

function oneOf(...names: readonly string[]): Shape {
  return (value) => {
    if (typeof value !== "string") return invalid(value, "variant identifier");
    return names.includes(value)
      ? undefined
      : `unknown variant \`${short(value)}\`, expected ${choiceOf(names)}`;
  };
}

function fields(shapes: Fields, what: string): Shape {
  const members = Object.entries(shapes);
  return (value) => {
    if (typeof value !== "object" || value === null) return invalid(value, what);
    const given = value as Readonly<Record<string, unknown>>;
    return firstProblem(members, ([name, shape]) => {
      const problem = shape(given[name]);
      return problem !== undefined && given[name] === undefined ? `missing field \`${name}\`` : problem;
    });
  };
}

/** One of several kinds, which its `type` names. */
function tagged(what: string, kinds: { readonly [type: string]: Fields }, type: Shape): Shape {
  const enumOf = `internally tagged enum ${what}`;
  const named = fields({ type }, enumOf);
  const shapes = new Map(Object.entries(kinds).map(([kind, members]) => [kind, fields(members, enumOf)]));
  return (value) => named(value) ?? shapes.get((value as { readonly type: string }).type)?.(value);
}

function closed(what: string, kinds: { readonly [type: string]: Fields }): Shape {
  return tagged(what, kinds, oneOf(...Object.keys(kinds)));
}

/** The value is of none of the kinds: which was meant nobody can say. */
function untagged(what: string, ...shapes: readonly Shape[]): Shape {
  return (value) =>
    value !== undefined && shapes.every((shape) => shape(value) !== undefined)
      ? `data did not match any variant of untagged enum ${what}`
      : anything(value);
}

const detail = optional(oneOf("auto", "low", "high", "original"));
const picture = untagged(
  "ImageReference",
  fields({ image_url: text }, "a map"),
  fields({ file_id: text }, "a map"),
);
const said: Fields = { text };
const sealed: Fields = { encrypted_content: text };
const heard: Fields = { audio_url: text };

const CONTENT = whole(
  closed("ContentItem", {
    input_text: said,
    input_image: { detail },
    input_audio: heard,
    output_text: said,
  }),
);
const OUTPUT = untagged(
  "FunctionCallOutputBody",
  text,
  list(
    whole(
      closed("FunctionCallOutputContentItem", {
        input_text: said,
        input_image: { detail },
        input_audio: heard,
        encrypted_content: sealed,
      }),
    ),
  ),
);

/** A picture also says where it is, in one of two ways. */
function whole(part: Shape): Shape {
  return (value) =>
    part(value) ?? ((value as { type: string }).type === "input_image" ? picture(value) : undefined);
}

const id = optional(text);
const ITEMS: { readonly [type: string]: Fields } = {
  additional_tools: { id, role: text, tools: list(anything) },
  message: {
    id,
    role: text,
    content: list(CONTENT),
    phase: optional(oneOf("commentary", "partial_answer", "final_answer")),
  },
  agent_message: {
    id,
    author: text,
    recipient: text,
    content: list(closed("AgentMessageInputContent", { input_text: said, encrypted_content: sealed })),
  },
  reasoning: {
    id,
    summary: list(closed("ReasoningItemReasoningSummary", { summary_text: said })),
    content: optional(list(closed("ReasoningItemContent", { reasoning_text: said, text: said }))),
    encrypted_content: optional(text),
  },
  local_shell_call: {
    id,
    call_id: optional(text),
    status: oneOf("completed", "in_progress", "incomplete"),
    action: closed("LocalShellAction", { exec: { command: list(text) } }),
  },
  function_call: { id, name: text, namespace: optional(text), arguments: text, call_id: text },
  function_call_output: { id, call_id: optional(text), name: optional(text), output: OUTPUT },
  custom_tool_call: { id, call_id: text, name: text, input: text },
  custom_tool_call_output: { id, call_id: text, name: optional(text), output: OUTPUT },
  tool_search_call: { id, call_id: optional(text), execution: text, arguments: anything },
  tool_search_output: {
    id,
    call_id: optional(text),
    status: text,
    execution: text,
    tools: list(anything),
  },
  web_search_call: {
    id,
    status: optional(text),
    action: optional(
      tagged(
        "WebSearchAction",
        {
          search: { query: optional(text), queries: optional(list(text)) },
          open_page: { url: optional(text) },
          find_in_page: { url: optional(text), pattern: optional(text) },
        },
        tag,
      ),
    ),
  },
  image_generation_call: { id, status: text, revised_prompt: optional(text), result: text },
  compaction: { id, encrypted_content: text },
  context_compaction: { id, encrypted_content: optional(text) },
};

/**
 * What is wrong with an item of the `responses` wire, if anything is: one that is none would be refused with every
 * later call of the model. Kinds that are not known here may be known to others, and are taken.
 */
export const responseItemProblem: Shape = tagged("ResponseItem", ITEMS, tag);

/** Whether models are given it: a kind that is known, in its shape. */
export function isResponseItem(item: unknown): boolean {
  return (
    responseItemProblem(item) === undefined && Object.hasOwn(ITEMS, (item as { readonly type: string }).type)
  );
}

/** Where the pictures of an item are, which is one. */
export function imagesOf(item: unknown): readonly string[] {
  const { content, output } = item as { readonly content?: unknown; readonly output?: unknown };
  return [content, output]
    .flatMap((parts) => (Array.isArray(parts) ? parts : []))
    .flatMap(({ type, image_url }) =>
      type === "input_image" && typeof image_url === "string" ? [image_url] : [],
    );
}

function firstProblem<T>(
  values: readonly T[],
  problemOf: (value: T) => string | undefined,
): string | undefined {
  for (const value of values) {
    const problem = problemOf(value);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function invalid(value: unknown, expected: string): string {
  return `invalid type: ${named(value)}, expected ${expected}`;
}

function named(value: unknown): string {
  switch (typeof value) {
    case "boolean":
      return `boolean \`${value}\``;
    case "number":
      return `${Number.isInteger(value) ? "integer" : "floating point"} \`${value}\``;
    case "string":
      return `string ${JSON.stringify(short(value))}`;
    default:
      return value === null ? "null" : Array.isArray(value) ? "sequence" : "map";
  }
}

function choiceOf(names: readonly string[]): string {
  const quoted = names.map((name) => `\`${name}\``);
  return quoted.length > 2 ? `one of ${quoted.join(", ")}` : quoted.join(" or ");
}

function short(value: string): string {
  return value.length > 100 ? `${value.slice(0, 100)}…` : value;
}
