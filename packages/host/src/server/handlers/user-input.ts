import type { AdditionalContextEntry, UserInput } from "@bobbin/protocol";
import type { Blobs } from "../../core/turn/blobs.ts";
import { type ContextEntry, contextOf } from "../../core/turn/given-context.ts";
import { Fault, fault } from "../../errors.ts";
import type { Actor } from "../../thread/actor.ts";
import { keepMedia, namesMedia } from "../../tool/kept-media.ts";
import { isRemote } from "../../tool/media.ts";
import type { Connection } from "../connection.ts";
import { type HandlerContext, reachOf } from "./context.ts";

const MAX_INPUT_CHARACTERS = 1_048_576;
const MAX_MESSAGE_ID = 1024;

/** Threads remember it, so it has a bound. */
export function readMessageId(id: string | null | undefined): string | null {
  if (id != null && id.length > MAX_MESSAGE_ID)
    throw fault(
      "invalidParams",
      "clientUserMessageId",
      `must not be longer than ${MAX_MESSAGE_ID} characters`,
    );
  return id ?? null;
}

/**
 * Keeps the files that a request's input names with the thread. Throws if the connection may not name them. `cwd`: where
 * paths start, if not where the thread is.
 */
export async function takeFiles(
  actor: Actor,
  input: readonly UserInput[],
  context: HandlerContext,
  connection: Connection,
  cwd?: string,
): Promise<Blobs | undefined> {
  if (!namesFiles(input)) return undefined;
  const from = cwd ?? (await actor.peek()).settings.cwd;
  await reachOf(context, connection).checkInput(input, from);
  return keepFiles(actor, input, context, from);
}

/** Keeps the files that input names with the thread, as far as its owner may read them. */
export async function keepFiles(
  actor: Actor,
  input: readonly UserInput[],
  { reachLookup }: HandlerContext,
  cwd: string,
): Promise<Blobs | undefined> {
  if (!namesMedia(input) || actor.ephemeral) return undefined;
  const { files } = reachLookup.of(actor.owner);
  return keepMedia(input, cwd, files, (name, bytes) => actor.journal.keep(name, bytes));
}

function namesFiles(input: readonly UserInput[]): boolean {
  return namesMedia(input) || input.some(({ type }) => type === "skill");
}

const CONTEXT_NAME = /^[a-z][a-z0-9_]{0,63}$/;

/** What a client says beside the input. Names are for those who sort what is not vouched for, and not for the model. */
export function readContext(
  given: Readonly<Record<string, AdditionalContextEntry>> | null | undefined,
): readonly ContextEntry[] {
  for (const { kind, name } of Object.values(given ?? {})) {
    if (name == null) continue;
    if (kind !== "untrusted") throw fault("contextNameKind");
    if (!CONTEXT_NAME.test(name)) throw fault("contextName");
  }
  return contextOf(given ?? {});
}

/** Bounds the input and fills what clients may leave out but must be told. */
export function readInput(input: readonly UserInput[]): readonly UserInput[] {
  const texts = input.map((part) => (part.type === "text" ? part.text : ""));
  const length = characters(texts);
  if (length > MAX_INPUT_CHARACTERS) {
    const problem = fault("inputTooLarge", MAX_INPUT_CHARACTERS);
    throw new Fault(problem.code, problem.message, {
      input_error_code: "input_too_large",
      max_chars: MAX_INPUT_CHARACTERS,
      actual_chars: length,
    });
  }
  if (input.some((part) => part.type === "image" && "url" in part && isRemote(part.url ?? ""))) {
    throw fault("remoteImage");
  }
  return input.map(known);
}

/** Unicode characters in all; only what may be too long is counted one by one. */
function characters(texts: readonly string[]): number {
  const units = texts.reduce((sum, text) => sum + text.length, 0);
  if (units <= MAX_INPUT_CHARACTERS) return units;
  let count = 0;
  for (const text of texts) for (const _ of text) count++;
  return count;
}

/** The members of each kind of part, with what those are told as that may be left out. */
const MEMBERS: { readonly [K in UserInput["type"]]: Readonly<Record<string, unknown>> } = {
  text: { text: undefined, text_elements: [] },
  image: { detail: null, url: undefined, fileId: undefined },
  localImage: { detail: null, path: undefined },
  audio: { url: undefined },
  localAudio: { path: undefined },
  skill: { name: undefined, path: undefined },
  mention: { name: undefined, path: undefined },
};

/** A part as the protocol has it: what clients put into it besides goes no further. */
function known(part: UserInput): UserInput {
  const given = part as Readonly<Record<string, unknown>>;
  const members = Object.entries(MEMBERS[part.type]).map(([name, normally]) => [
    name,
    given[name] ?? normally,
  ]);
  return Object.fromEntries([
    ["type", part.type],
    ...members.filter(([, value]) => value !== undefined),
  ]) as UserInput;
}
