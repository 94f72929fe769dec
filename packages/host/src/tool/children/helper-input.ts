import type { UserInput } from "@bobbin/protocol";

/** A message from a model to a helper: text, or a list of parts. */
export interface HelperMessage {
  readonly message?: string | undefined;
  readonly items?: readonly MessagePart[] | undefined;
}

interface MessagePart {
  readonly type?: string;
  readonly text?: string;
  readonly image_url?: string;
  readonly audio_url?: string;
  readonly path?: string;
  readonly name?: string;
}

/** Limit on the parts of one message. */
const MAX_PARTS = 64;

/** JSON Schema properties of the arguments that make up a message. */
export const MESSAGE_PROPERTIES = {
  message: { type: "string", description: "What to tell the agent, in words. Give either this or `items`." },
  items: {
    type: "array",
    description: "What to tell the agent, in parts. Give either this or `message`.",
    items: {
      type: "object",
      properties: {
        type: {
          type: "string",
          description: "text, image, local_image, audio, local_audio, skill or mention.",
        },
        text: { type: "string", description: "The words of a text." },
        image_url: { type: "string", description: "The URL of an image." },
        audio_url: { type: "string", description: "The data URL of an audio." },
        path: { type: "string", description: "Where a file, a skill or what is mentioned is found." },
        name: { type: "string", description: "What a skill or what is mentioned is called." },
      },
      additionalProperties: false,
    },
  },
} as const;

/** Converts a message to the input of a turn. Returns a string with the reason if the message is invalid. */
export function helperInput({ message, items }: HelperMessage): readonly UserInput[] | string {
  if (message !== undefined && items !== undefined) return "Give either message or items, not both.";
  if (message !== undefined) return message.trim() === "" ? "The message is empty." : [words(message)];
  if (items === undefined) return "Give one of message and items.";
  if (items.length === 0) return "There are no items.";
  if (items.length > MAX_PARTS) return `There are more than ${MAX_PARTS} items.`;
  const parts = items.map(partOf);
  const wrong = parts.find((part) => typeof part === "string");
  return wrong ?? (parts as UserInput[]);
}

function words(text: string): UserInput {
  return { type: "text", text, text_elements: [] };
}

function partOf(part: MessagePart): UserInput | string {
  const { type, text, image_url, audio_url, path, name } = part;
  switch (type) {
    case "text":
      return text === undefined ? missing(type, "text") : words(text);
    case "image":
      if (image_url === undefined) return missing(type, "image_url");
      return { type: "image", url: image_url } as UserInput;
    case "audio":
      if (audio_url === undefined) return missing(type, "audio_url");
      return { type: "audio", url: audio_url } as UserInput;
    case "local_image":
      return path === undefined ? missing(type, "path") : { type: "localImage", path };
    case "local_audio":
      return path === undefined ? missing(type, "path") : { type: "localAudio", path };
    case "skill":
    case "mention":
      // The text of a skill is not included: the helper reads the skill with its own tools, if it may.
      if (name === undefined || path === undefined) return missing(type, "name and path");
      return { type: "mention", name, path };
    default:
      return `An item of the type ${JSON.stringify(type ?? null)} is not known: it is one of text, image, local_image, audio, local_audio, skill and mention.`;
  }
}

function missing(type: string, what: string): string {
  return `An item of the type ${type} needs ${what}.`;
}

/** The input as one text, as users see it. */
export function promptOf(input: readonly UserInput[]): string {
  return input
    .map((part) => {
      switch (part.type) {
        case "text":
          return part.text;
        case "localImage":
        case "localAudio":
          return `[${part.type}: ${part.path}]`;
        case "skill":
        case "mention":
          return `[${part.name}](${part.path})`;
        default:
          return `[${part.type}]`;
      }
    })
    .join("\n");
}
