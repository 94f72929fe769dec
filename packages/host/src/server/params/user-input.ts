import type { AdditionalContextEntry, UserInput } from "@bobbin/protocol";
import { type ContextEntry, contextOf } from "../../core/turn/additional-context.ts";
import type { Blobs } from "../../core/turn/blobs.ts";
import { Fault, fault } from "../../errors.ts";
import type { Actor } from "../../thread/actor.ts";
import { keepMedia, namesMedia } from "../../tool/input-media-blobs.ts";
import { isRemote } from "../../tool/media.ts";
import type { Connection } from "../connection.ts";
import { type HandlerContext, reachOf } from "../handler-context.ts";

const MAX_INPUT_CHARACTERS = 1_048_576;
const MAX_MESSAGE_ID = 1024;

/** Checks the length of a message ID. It is limited, because threads remember IDs. */
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
 * Stores the files that a request's input names as blobs of the thread. Throws if the connection may not read one of
 * them. `cwd`: the folder that relative paths start from, if not the thread's own.
 */
export async function storeInputFiles(
  actor: Actor,
  input: readonly UserInput[],
  context: HandlerContext,
  connection: Connection,
  cwd?: string,
): Promise<Blobs | undefined> {
  if (!namesFiles(input)) return undefined;
  const from = cwd ?? (await actor.peek()).settings.cwd;
  await reachOf(context, connection).checkInput(input, from);
  return storeFiles(actor, input, context, from);
}

/**
 * Stores the files that input names as blobs of the thread. Files that the thread's owner may not read are left out.
 */
export async function storeFiles(
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

/** Validates the additional context of an input. Only untrusted entries may have names. */
export function readContext(
  context: Readonly<Record<string, AdditionalContextEntry>> | null | undefined,
): readonly ContextEntry[] {
  for (const { kind, name } of Object.values(context ?? {})) {
    if (name == null) continue;
    if (kind !== "untrusted") throw fault("contextNameKind");
    if (!CONTEXT_NAME.test(name)) throw fault("contextName");
  }
  return contextOf(context ?? {});
}

/** Checks the length of the input, and fills in optional fields that notifications must contain. */
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
  return input.map(withKnownFields);
}

/** Counts Unicode characters. The count is exact only near or above the limit. */
function characters(texts: readonly string[]): number {
  const units = texts.reduce((sum, text) => sum + text.length, 0);
  if (units <= MAX_INPUT_CHARACTERS) return units;
  let count = 0;
  for (const text of texts) for (const _ of text) count++;
  return count;
}

/** The fields of each kind of part, with the defaults of optional ones. */
const MEMBERS: { readonly [K in UserInput["type"]]: Readonly<Record<string, unknown>> } = {
  text: { text: undefined, text_elements: [] },
  image: { detail: null, url: undefined, fileId: undefined },
  localImage: { detail: null, path: undefined },
  audio: { url: undefined, fileId: undefined },
  localAudio: { path: undefined },
  skill: { name: undefined, path: undefined },
  mention: { name: undefined, path: undefined },
};

/** The part with only those fields that the protocol defines. */
function withKnownFields(part: UserInput): UserInput {
  const fields = part as Readonly<Record<string, unknown>>;
  const members = Object.entries(MEMBERS[part.type]).map(([name, normally]) => [
    name,
    fields[name] ?? normally,
  ]);
  return Object.fromEntries([
    ["type", part.type],
    ...members.filter(([, value]) => value !== undefined),
  ]) as UserInput;
}
