/** A small text that hosts share: the thread sections, a tool server's toolset, rules. */
export interface Document {
  readonly text: string;
  /** Changes whenever the text changes. */
  readonly version: string;
}

/** Documents by name. A name is `name` or `folder/name`; each part must be a valid file name. */
export interface DocumentStore {
  /** Undefined if there is no such document. */
  read(name: string): Promise<Document | undefined>;
  /**
   * Replaces a document whose version is still `version` (undefined: no document yet). Returns false, without
   * writing, if another host has changed the document. Durable when it resolves.
   */
  replace(name: string, text: string, version: string | undefined): Promise<boolean>;
  /** The names of all documents in a folder. */
  list(folder: string): Promise<readonly string[]>;
  /** The file of the document, which users may edit; null if the store has no files. */
  path(name: string): string | null;
  /** Moves an invalid document aside, so that users can inspect it. */
  setAside(name: string): Promise<void>;
}
