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
import { fault, messageOf } from "../errors.ts";
import type { Log } from "../observe/log.ts";
import type { Clock, Ids } from "../platform/platform.ts";
import type { DocumentStore } from "../store/documents.ts";

/** The built-in section for pinned threads. Clients know its ID. */
export const PINNED_SECTION: ThreadSection = {
  id: "01984de2-8f74-7c91-a3b2-5c5e937cf318",
  name: "Pinned",
  appearance: null,
};

/**
 * The sections that users sort their threads into. Each thread's journal names the thread's section. A thread whose
 * section was deleted is in no section.
 */
export interface Sections {
  /** The sections of an owner, the pinned one first. Without an owner, the sections of all owners. */
  all(owner: string | undefined): Promise<readonly ThreadSection[]>;
  /** The owner of a section; undefined if there is no such section, and for the pinned one, which everyone has. */
  ownerOf(sectionId: string): Promise<string | undefined>;
  list(owner: string | undefined, params: ThreadSectionListParams): Promise<ThreadSectionListResponse>;
  create(owner: string, params: ThreadSectionCreateParams): Promise<ThreadSectionCreateResponse>;
  update(owner: string | undefined, params: ThreadSectionUpdateParams): Promise<ThreadSectionUpdateResponse>;
  delete(owner: string | undefined, params: ThreadSectionDeleteParams): Promise<ThreadSectionDeleteResponse>;
}

export interface SectionsOptions {
  readonly documents: DocumentStore;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Log;
}

const MAX_SECTIONS = 1000;
const MAX_NAME = 256;
const MAX_APPEARANCE_BYTES = 64;
const DEFAULT_LIMIT = 25;
const MAX_LIMIT = 100;
/** How long the document is cached after a read. Another host may change it. */
const TRUST_MS = 1000;
/** The name of the stored document. */
const SECTIONS = "thread_sections";

interface OwnedSection extends ThreadSection {
  readonly owner: string;
}

export function openSections(options: SectionsOptions): Sections {
  return new StoredSections(options);
}

/** The content of the document. */
interface SectionsDocument {
  readonly sections: readonly OwnedSection[];
  /** Undefined if there is no document yet. */
  readonly version: string | undefined;
}

class StoredSections implements Sections {
  readonly #options: SectionsOptions;
  #read: { readonly at: number; readonly found: Promise<SectionsDocument> } | undefined;
  #lastChange: Promise<unknown> = Promise.resolve();

  constructor(options: SectionsOptions) {
    this.#options = options;
  }

  async all(owner: string | undefined): Promise<readonly ThreadSection[]> {
    // A list that follows a change must show the change.
    await this.#lastChange;
    const mine = (await this.#found()).sections.filter((section) => sees(owner, section));
    return [PINNED_SECTION, ...mine.map(sectionView)];
  }

  async ownerOf(sectionId: string): Promise<string | undefined> {
    await this.#lastChange;
    return (await this.#found()).sections.find(({ id }) => id === sectionId)?.owner;
  }

  async list(owner: string | undefined, params: ThreadSectionListParams): Promise<ThreadSectionListResponse> {
    const all = await this.all(owner);
    const limit = Math.min(Math.max(params.limit ?? DEFAULT_LIMIT, 1), MAX_LIMIT);
    // Compared by ID, because the cursor's section may have been deleted.
    const { cursor } = params;
    const rest = cursor == null ? all : all.filter((section) => isBehind(section, cursor));
    const data = rest.slice(0, limit);
    return { data, nextCursor: rest.length > limit ? data.at(-1)!.id : null };
  }

  async create(owner: string, params: ThreadSectionCreateParams): Promise<ThreadSectionCreateResponse> {
    const name = checkedName(params.name);
    const appearance = checkedAppearance(params.appearance);
    return this.#change((sections) => {
      if (sections.length >= MAX_SECTIONS) throw fault("tooManySections", MAX_SECTIONS);
      const made: OwnedSection = { id: this.#options.ids.uuid(), name, appearance, owner };
      return { sections: [...sections, made], reply: { section: sectionView(made) } };
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
    return this.#change((sections) => {
      const changed = { ...find(sections, owner, id), name, ...replaced };
      return {
        sections: sections.map((section) => (section.id === id ? changed : section)),
        reply: { section: sectionView(changed) },
      };
    });
  }

  async delete(
    owner: string | undefined,
    params: ThreadSectionDeleteParams,
  ): Promise<ThreadSectionDeleteResponse> {
    const id = checkedId(params.sectionId);
    return this.#change((sections) => {
      find(sections, owner, id);
      return { sections: sections.filter((section) => section.id !== id), reply: {} };
    });
  }

  /** Applies a change to the current document. Changes run one after the other, and are durable before the reply. */
  #change<T>(
    change: (sections: readonly OwnedSection[]) => {
      readonly sections: readonly OwnedSection[];
      readonly reply: T;
    },
  ): Promise<T> {
    const { documents } = this.#options;
    const done = this.#lastChange.then(async () => {
      for (;;) {
        this.#read = undefined;
        const { sections: before, version } = await this.#found();
        const { sections, reply } = change(before);
        const text = `${JSON.stringify({ version: 1, sections }, null, 2)}\n`;
        // Whether the write succeeds or fails, the next read must not use the cache.
        this.#read = undefined;
        const replaced = await documents.replace(SECTIONS, text, version).catch((cause: unknown) => {
          throw fault("notSaved", messageOf(cause));
        });
        // Another host has changed the document in between: the change is applied to the new version.
        if (replaced) return reply;
      }
    });
    this.#lastChange = done.catch(() => {});
    return done;
  }

  #found(): Promise<SectionsDocument> {
    const now = this.#options.clock.monotonic();
    if (this.#read === undefined || now - this.#read.at > TRUST_MS) {
      const read = { at: now, found: this.#load() };
      read.found.catch(() => {
        if (this.#read === read) this.#read = undefined;
      });
      this.#read = read;
    }
    return this.#read.found;
  }

  async #load(): Promise<SectionsDocument> {
    const { documents, log } = this.#options;
    const document = await documents.read(SECTIONS);
    if (document === undefined) return { sections: [], version: undefined };
    const sections = parse(document.text);
    if (sections !== undefined) {
      return { sections: sections.sort((a, b) => (a.id < b.id ? -1 : 1)), version: document.version };
    }
    // A broken document must not make lists fail. It is set aside, not deleted.
    log.warn("the thread sections cannot be read; they are set aside", { document: SECTIONS });
    await documents.setAside(SECTIONS);
    return { sections: [], version: undefined };
  }
}

/**
 * A sort position between two neighbours in a section (undefined stands for an end); undefined if the neighbours are
 * too close.
 */
export function positionBetween(lower: number | undefined, upper: number | undefined): number | undefined {
  if (lower === undefined) return upper === undefined ? 0 : Math.ceil(upper) - 1;
  if (upper === undefined) return Math.floor(lower) + 1;
  const middle = lower + (upper - lower) / 2;
  return middle > lower && middle < upper ? middle : undefined;
}

function parse(text: string): OwnedSection[] | undefined {
  try {
    const { sections } = JSON.parse(text) as { sections?: unknown };
    return Array.isArray(sections) && sections.every(isOwnedSection) ? sections : undefined;
  } catch {
    return undefined;
  }
}

function isOwnedSection(value: unknown): value is OwnedSection {
  const { id, name, owner, appearance } = (value ?? {}) as Partial<OwnedSection>;
  const strings = typeof id === "string" && typeof name === "string" && typeof owner === "string";
  return strings && typeof appearance === "object";
}

function sees(owner: string | undefined, section: OwnedSection): boolean {
  return owner === undefined || section.owner === owner;
}

function find(sections: readonly OwnedSection[], owner: string | undefined, id: string): OwnedSection {
  const found = sections.find((section) => section.id === id && sees(owner, section));
  if (found === undefined) throw fault("sectionNotFound", id);
  return found;
}

function isBehind(section: ThreadSection, cursor: string): boolean {
  if (section.id === PINNED_SECTION.id) return false;
  return cursor === PINNED_SECTION.id || section.id > cursor;
}

function sectionView({ id, name, appearance }: OwnedSection): ThreadSection {
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
