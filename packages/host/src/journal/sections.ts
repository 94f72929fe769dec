import type {
  ThreadSection,
  ThreadSectionAppearance,
  ThreadSectionCreateParams,
  ThreadSectionCreateResponse,
  ThreadSectionDeleteParams,
  ThreadSectionDeleteResponse,
  ThreadSectionListParams,
  ThreadSectionListResponse,
  ThreadSectionUpdateParams,
  ThreadSectionUpdateResponse,
} from "@bobbin/protocol";
import { fault } from "../errors.ts";
import type { Log } from "../observe/log.ts";
import type { Clock, Files, Ids } from "../platform/platform.ts";

/** Every home has it, and clients know it by this id. */
export const PINNED_SECTION: ThreadSection = {
  id: "01984de2-8f74-7c91-a3b2-5c5e937cf318",
  name: "Pinned",
  appearance: null,
};

/**
 * The sections that people sort their threads into. Which threads are in one is told by the threads' own
 * journals: a thread in a section that is gone is in none.
 */
export interface Sections {
  /** Those that `owner` sees, the pinned one first; undefined sees everybody's. */
  all(owner: string | undefined): Promise<readonly ThreadSection[]>;
  list(owner: string | undefined, params: ThreadSectionListParams): Promise<ThreadSectionListResponse>;
  create(owner: string, params: ThreadSectionCreateParams): Promise<ThreadSectionCreateResponse>;
  update(owner: string | undefined, params: ThreadSectionUpdateParams): Promise<ThreadSectionUpdateResponse>;
  delete(owner: string | undefined, params: ThreadSectionDeleteParams): Promise<ThreadSectionDeleteResponse>;
}

export interface SectionsOptions {
  /** `<home>/thread_sections.json` */
  readonly path: string;
  readonly files: Files;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Log;
}

const MAX_SECTIONS = 1000;
const MAX_NAME = 256;
const MAX_APPEARANCE_BYTES = 64;
const DEFAULT_LIMIT = 25;
const MAX_LIMIT = 100;
/** For that long a list trusts what it read: another host on this home may have changed the file. */
const TRUST_MS = 1000;

interface Kept extends ThreadSection {
  readonly owner: string;
}

export function openSections(options: SectionsOptions): Sections {
  return new FileSections(options);
}

class FileSections implements Sections {
  readonly #options: SectionsOptions;
  #read: { readonly at: number; readonly kept: Promise<readonly Kept[]> } | undefined;
  #lastChange: Promise<unknown> = Promise.resolve();

  constructor(options: SectionsOptions) {
    this.#options = options;
  }

  async all(owner: string | undefined): Promise<readonly ThreadSection[]> {
    // What was asked for before is seen after.
    await this.#lastChange;
    const mine = (await this.#kept()).filter((section) => sees(owner, section));
    return [PINNED_SECTION, ...mine.map(asTold)];
  }

  async list(owner: string | undefined, params: ThreadSectionListParams): Promise<ThreadSectionListResponse> {
    const all = await this.all(owner);
    const limit = Math.min(Math.max(params.limit ?? DEFAULT_LIMIT, 1), MAX_LIMIT);
    // By order and not by place: the section that the cursor names may be gone.
    const { cursor } = params;
    const rest = cursor == null ? all : all.filter((section) => isBehind(section, cursor));
    const data = rest.slice(0, limit);
    return { data, nextCursor: rest.length > limit ? data.at(-1)!.id : null };
  }

  async create(owner: string, params: ThreadSectionCreateParams): Promise<ThreadSectionCreateResponse> {
    const name = checkedName(params.name);
    const appearance = checkedAppearance(params.appearance);
    return this.#change((kept) => {
      if (kept.length >= MAX_SECTIONS) throw fault("tooManySections", MAX_SECTIONS);
      const made: Kept = { id: this.#options.ids.uuid(), name, appearance, owner };
      return { kept: [...kept, made], reply: { section: asTold(made) } };
    });
  }

  async update(
    owner: string | undefined,
    params: ThreadSectionUpdateParams,
  ): Promise<ThreadSectionUpdateResponse> {
    const name = checkedName(params.name);
    const id = checkedId(params.sectionId);
    const { appearance } = params;
    const replaced = appearance === undefined ? {} : { appearance: checkedAppearance(appearance) };
    return this.#change((kept) => {
      const changed = { ...find(kept, owner, id), name, ...replaced };
      return {
        kept: kept.map((section) => (section.id === id ? changed : section)),
        reply: { section: asTold(changed) },
      };
    });
  }

  async delete(
    owner: string | undefined,
    params: ThreadSectionDeleteParams,
  ): Promise<ThreadSectionDeleteResponse> {
    const id = checkedId(params.sectionId);
    return this.#change((kept) => {
      find(kept, owner, id);
      return { kept: kept.filter((section) => section.id !== id), reply: {} };
    });
  }

  /** One change after the other, each on what the file says now, and each on the disk before it is told. */
  #change<T>(
    change: (kept: readonly Kept[]) => { readonly kept: readonly Kept[]; readonly reply: T },
  ): Promise<T> {
    const { path, files, clock } = this.#options;
    const done = this.#lastChange.then(async () => {
      this.#read = undefined;
      const { kept, reply } = change(await this.#kept());
      const text = `${JSON.stringify({ version: 1, sections: kept }, null, 2)}\n`;
      try {
        await files.replaceText(path, text);
      } catch (cause) {
        this.#read = undefined;
        throw fault("notSaved", cause instanceof Error ? cause.message : String(cause));
      }
      this.#read = { at: clock.monotonic(), kept: Promise.resolve(kept) };
      return reply;
    });
    this.#lastChange = done.catch(() => {});
    return done;
  }

  #kept(): Promise<readonly Kept[]> {
    const now = this.#options.clock.monotonic();
    if (this.#read === undefined || now - this.#read.at > TRUST_MS) {
      const read = { at: now, kept: this.#load() };
      read.kept.catch(() => {
        if (this.#read === read) this.#read = undefined;
      });
      this.#read = read;
    }
    return this.#read.kept;
  }

  async #load(): Promise<readonly Kept[]> {
    const { path, files, log } = this.#options;
    const text = await files.readText(path);
    if (text === undefined) return [];
    const kept = parse(text);
    if (kept !== undefined) return kept.sort((a, b) => (a.id < b.id ? -1 : 1));
    // Somebody's broken edit must not take the lists with it, nor be lost.
    log.warn("the thread sections cannot be read; they are set aside", { path });
    await files.rename(path, `${path}.broken`);
    return [];
  }
}

/** Room between two neighbours in a section; undefined at an end. Undefined if they are too close. */
export function positionBetween(lower: number | undefined, upper: number | undefined): number | undefined {
  if (lower === undefined) return upper === undefined ? 0 : Math.ceil(upper) - 1;
  if (upper === undefined) return Math.floor(lower) + 1;
  const middle = lower + (upper - lower) / 2;
  return middle > lower && middle < upper ? middle : undefined;
}

function parse(text: string): Kept[] | undefined {
  try {
    const { sections } = JSON.parse(text) as { sections?: unknown };
    return Array.isArray(sections) && sections.every(isKept) ? sections : undefined;
  } catch {
    return undefined;
  }
}

function isKept(value: unknown): value is Kept {
  const { id, name, owner, appearance } = (value ?? {}) as Partial<Kept>;
  const strings = typeof id === "string" && typeof name === "string" && typeof owner === "string";
  return strings && typeof appearance === "object";
}

function sees(owner: string | undefined, section: Kept): boolean {
  return owner === undefined || section.owner === owner;
}

function find(kept: readonly Kept[], owner: string | undefined, id: string): Kept {
  const found = kept.find((section) => section.id === id && sees(owner, section));
  if (found === undefined) throw fault("sectionNotFound", id);
  return found;
}

function isBehind(section: ThreadSection, cursor: string): boolean {
  if (section.id === PINNED_SECTION.id) return false;
  return cursor === PINNED_SECTION.id || section.id > cursor;
}

function asTold({ id, name, appearance }: Kept): ThreadSection {
  return { id, name, appearance };
}

function checkedId(id: string): string {
  if (id.trim() === "") throw fault("invalidParams", "sectionId", "must not be empty");
  if (id === PINNED_SECTION.id) throw fault("sectionBuiltIn", id);
  return id;
}

function checkedName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === "") throw fault("sectionNameEmpty");
  if (trimmed.length > MAX_NAME) {
    throw fault("invalidParams", "name", `must not be longer than ${MAX_NAME} characters`);
  }
  return trimmed;
}

function checkedAppearance(
  appearance: ThreadSectionAppearance | null | undefined,
): ThreadSectionAppearance | null {
  if (appearance == null) return null;
  for (const field of ["icon", "color"] as const) {
    const value = appearance[field];
    if (value != null && Buffer.byteLength(value) > MAX_APPEARANCE_BYTES) {
      throw fault(
        "invalidParams",
        `appearance.${field}`,
        `must not be longer than ${MAX_APPEARANCE_BYTES} bytes`,
      );
    }
  }
  return { icon: appearance.icon ?? null, color: appearance.color ?? null };
}
