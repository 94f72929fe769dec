/**
 * Checks a value. Returns what is wrong with it, in the wording that clients of this protocol expect; undefined if it
 * is valid.
 */
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
    const object = value as Readonly<Record<string, unknown>>;
    return firstProblem(members, ([name, shape]) => {
      const problem = shape(object[name]);
      return problem !== undefined && object[name] === undefined ? `missing field \`${name}\`` : problem;
    });
  };
}

/** An object of one of several kinds, named by its `type`. */
function tagged(what: string, kinds: { readonly [type: string]: Fields }, type: Shape): Shape {
  const enumOf = `internally tagged enum ${what}`;
  const named = fields({ type }, enumOf);
  const shapes = new Map(Object.entries(kinds).map(([kind, members]) => [kind, fields(members, enumOf)]));
  return (value) => named(value) ?? shapes.get((value as { readonly type: string }).type)?.(value);
}

function taggedKnown(what: string, kinds: { readonly [type: string]: Fields }): Shape {
  return tagged(what, kinds, oneOf(...Object.keys(kinds)));
}

/**
 * A value that must match at least one of several shapes. The error names none of them, because it is unknown which
 * one was meant.
 */
function untagged(what: string, ...shapes: readonly Shape[]): Shape {
  return (value) =>
    value !== undefined && shapes.every((shape) => shape(value) !== undefined)
      ? `data did not match any variant of untagged enum ${what}`
      : anything(value);
}

const detail = optional(oneOf("auto", "low", "high", "original"));
const audioReference = untagged(
  "AudioReference",
  fields({ audio_url: text }, "a map"),
  fields({ file_id: text }, "a map"),
);
const imageReference = untagged(
  "ImageReference",
  fields({ image_url: text }, "a map"),
  fields({ file_id: text }, "a map"),
);
const textFields: Fields = { text };
const encryptedFields: Fields = { encrypted_content: text };

const CONTENT = withMediaCheck(
  taggedKnown("ContentItem", {
    input_text: textFields,
    input_image: { detail },
    input_audio: {},
    output_text: textFields,
  }),
);
const OUTPUT = untagged(
  "FunctionCallOutputBody",
  text,
  list(
    withMediaCheck(
      taggedKnown("FunctionCallOutputContentItem", {
        input_text: textFields,
        input_image: { detail },
        input_audio: {},
        encrypted_content: encryptedFields,
      }),
    ),
  ),
);

/** Additionally checks the reference of an image or audio part, which is a URL or a file id. */
function withMediaCheck(part: Shape): Shape {
  return (value) => part(value) ?? mediaReference((value as { type: string }).type)?.(value);
}

function mediaReference(type: string): Shape | undefined {
  if (type === "input_audio") return audioReference;
  return type === "input_image" ? imageReference : undefined;
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
    content: list(
      taggedKnown("AgentMessageInputContent", { input_text: textFields, encrypted_content: encryptedFields }),
    ),
  },
  reasoning: {
    id,
    summary: list(taggedKnown("ReasoningItemReasoningSummary", { summary_text: textFields })),
    content: optional(
      list(taggedKnown("ReasoningItemContent", { reasoning_text: textFields, text: textFields })),
    ),
    encrypted_content: optional(text),
  },
  local_shell_call: {
    id,
    call_id: optional(text),
    status: oneOf("completed", "in_progress", "incomplete"),
    action: taggedKnown("LocalShellAction", { exec: { command: list(text) } }),
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
 * Checks an item of the Responses API. With an invalid item, the provider would refuse every later model call. Items
 * of unknown kinds are accepted, because providers may support them.
 */
export const responseItemProblem: Shape = tagged("ResponseItem", ITEMS, tag);

/** Whether an item is sent to models: it has a known kind and is valid. */
export function isResponseItem(item: unknown): boolean {
  return (
    responseItemProblem(item) === undefined && Object.hasOwn(ITEMS, (item as { readonly type: string }).type)
  );
}

/** The image URLs in a valid item. */
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
