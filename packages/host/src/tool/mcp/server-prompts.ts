import type { McpPrompt, McpPromptArgument, McpServerPromptListResponse, UserInput } from "@bobbin/protocol";
import { messageOf } from "../../errors.ts";
import type { Timers } from "../../platform/platform.ts";
import { type McpBlock, McpError, type McpPromptMessages, type ThreadServer } from "./mcp-interface.ts";
import { type ResultPart, readResult } from "./result-parts.ts";
import { isJson, type Json } from "./server-offer.ts";
import { within } from "./wait-with-limit.ts";

/** How long a list waits for each server. */
const WAIT_MS = 5_000;
const MAX_PAGES = 10;
const MAX_PROMPTS = 500;
const MAX_ARGUMENTS = 50;
const MAX_NAME = 256;
const MAX_TEXT = 1024;

/**
 * Asks servers for their prompts, all at the same time. A server that fails, or does not answer in time, causes a
 * warning.
 */
export async function listPrompts(
  servers: readonly ThreadServer[],
  timers: Timers,
  signal: AbortSignal,
): Promise<McpServerPromptListResponse> {
  const data: McpPrompt[] = [];
  const warnings: McpServerPromptListResponse["warnings"] = [];
  const late = () => new McpError("timeout", "it does not list its prompts");
  const lists = servers
    .filter(({ hasPrompts }) => hasPrompts)
    .map(async (server) => {
      try {
        return await within(timers, WAIT_MS, late, (over) =>
          promptsOf(server, AbortSignal.any([signal, over])),
        );
      } catch (cause) {
        signal.throwIfAborted();
        if (!(cause instanceof McpError)) throw cause;
        warnings.push({ server: server.name, message: messageOf(cause) });
        return [];
      }
    });
  for (const list of await Promise.all(lists)) data.push(...list);
  return { data, warnings };
}

async function promptsOf(server: ThreadServer, signal: AbortSignal): Promise<readonly McpPrompt[]> {
  const found = new Map<string, McpPrompt>();
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES && found.size < MAX_PROMPTS; page++) {
    const { prompts, nextCursor } = await server.listPrompts(cursor, signal);
    for (const one of prompts) {
      const prompt = promptOf(server.name, one);
      if (prompt !== undefined && found.size < MAX_PROMPTS) found.set(prompt.name, prompt);
    }
    if (nextCursor === null) break;
    cursor = nextCursor;
  }
  return [...found.values()];
}

/** A prompt for clients; undefined if its name is invalid. A name with spaces could not be typed as a command. */
function promptOf(
  server: string,
  { name, title, description, arguments: args }: Json,
): McpPrompt | undefined {
  if (typeof name !== "string" || !isName(name)) return undefined;
  const list = Array.isArray(args) ? args.filter(isJson).slice(0, MAX_ARGUMENTS) : [];
  return {
    server,
    name,
    description: oneLine(description) ?? oneLine(title),
    arguments: list.flatMap(argumentOf),
  };
}

function argumentOf({ name, description, required }: Json): McpPromptArgument[] {
  if (typeof name !== "string" || !isName(name)) return [];
  return [{ name, description: oneLine(description), required: required === true }];
}

function isName(name: string): boolean {
  return name !== "" && name.length <= MAX_NAME && !/[\s\p{C}]/u.test(name);
}

function oneLine(text: unknown): string | null {
  return typeof text === "string" ? text.replace(/\s+/g, " ").trim().slice(0, MAX_TEXT) || null : null;
}

/**
 * Converts the messages of a prompt to a user's input. Each text says who speaks if the messages are a conversation,
 * because all of it is sent as one message of the user.
 */
export function promptInput({ messages }: McpPromptMessages): UserInput[] {
  const valid = messages.flatMap(({ role, content }) =>
    isJson(content) && typeof content.type === "string" ? [{ role, block: content as McpBlock }] : [],
  );
  const isTalk = valid.some(({ role }) => role === "assistant");
  const content = valid.map(({ block }) => block);
  const { parts } = readResult({ content, structuredContent: null, isError: false, meta: null });
  return parts.map((part, at) => {
    const input = inputOf(part);
    if (!isTalk || input.type !== "text" || valid[at] === undefined) return input;
    return { ...input, text: `${valid[at].role === "assistant" ? "Assistant" : "User"}: ${input.text}` };
  });
}

function inputOf(part: ResultPart): UserInput {
  switch (part.kind) {
    case "image":
      return { type: "image", url: `data:${part.mimeType};base64,${part.data}` } as UserInput;
    case "audio":
    case "bytes":
      return { type: "text", text: `[${part.mimeType} ${part.uri} is left out]` };
    case "resourceText":
      return { type: "text", text: `${part.uri}\n${part.text}` };
    case "text":
    case "other":
    case "left":
      return { type: "text", text: part.text };
  }
}
