/** Blobs: content of a thread that is too large for its commits. A blob's name is derived from its content. */
export interface BlobReader {
  /** Reads a blob; undefined if there is none. */
  blob(name: string): Promise<Uint8Array | undefined>;
}

export interface Blobs extends BlobReader {
  /** Stores a blob. Durable when it resolves. */
  keep(name: string, bytes: Uint8Array): Promise<void>;
  /** The blobs whose names start with a prefix. */
  blobs(prefix: string): Promise<readonly StoredBlob[]>;
  /** Removes a blob, if it exists. */
  removeBlob(name: string): Promise<void>;
}

export interface StoredBlob {
  readonly name: string;
  readonly bytes: number;
}
