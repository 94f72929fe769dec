import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Platform } from "../../platform/platform.ts";
import type { Document, DocumentStore } from "../documents.ts";
import { RULES_LOCK } from "./shared-locks.ts";

/** Folder of the rules, which have a text format of their own. All other documents are JSON. */
const RULES = "rules";

type Exclusively = <T>(work: () => Promise<T>) => Promise<T>;
type DocumentPlatform = {
  readonly files: Pick<Platform["files"], "readText" | "replaceText" | "rename" | "list">;
  readonly liveness: Pick<Platform["liveness"], "exclusively">;
};

/**
 * Documents as files of the home: `<name>.json`, and rules as `rules/<name>.rules`. A version is a digest of the
 * text.
 */
export class DocumentFiles implements DocumentStore {
  readonly #home: string;
  readonly #platform: DocumentPlatform;
  readonly #exclusively: Exclusively;

  /** `exclusively` is a lock across all hosts of the home. Rules have a lock of their own. */
  constructor(home: string, platform: DocumentPlatform, exclusively: Exclusively) {
    this.#home = home;
    this.#platform = platform;
    this.#exclusively = exclusively;
  }

  async read(name: string): Promise<Document | undefined> {
    const text = await this.#platform.files.readText(this.path(name));
    return text === undefined ? undefined : { text, version: versionOf(text) };
  }

  replace(name: string, text: string, version: string | undefined): Promise<boolean> {
    const exclusively = folderOf(name) === RULES ? this.#exclusivelyOnRules : this.#exclusively;
    return exclusively(async () => {
      if ((await this.read(name))?.version !== version) return false;
      await this.#platform.files.replaceText(this.path(name), text);
      return true;
    });
  }

  async list(folder: string): Promise<readonly string[]> {
    const ending = endingOf(folder);
    const entries = await this.#platform.files.list(join(this.#home, folder));
    return entries
      .filter(({ name, folder: isFolder }) => !isFolder && name.endsWith(ending))
      .map(({ name }) => `${folder}/${name.slice(0, -ending.length)}`);
  }

  path(name: string): string {
    return join(this.#home, `${name}${endingOf(folderOf(name))}`);
  }

  setAside(name: string): Promise<void> {
    const path = this.path(name);
    return this.#platform.files.rename(path, `${path}.broken`);
  }

  readonly #exclusivelyOnRules: Exclusively = (work) =>
    this.#platform.liveness.exclusively(join(this.#home, "live", RULES_LOCK), work);
}

/** The rules of a home, for commands that run without a store. */
export function ruleFiles(home: string, platform: DocumentPlatform): DocumentStore {
  return new DocumentFiles(home, platform, () => {
    throw new Error("only rules can be changed without a store");
  });
}

function folderOf(name: string): string {
  return name.slice(0, Math.max(0, name.indexOf("/")));
}

function endingOf(folder: string): string {
  return folder === RULES ? ".rules" : ".json";
}

function versionOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
