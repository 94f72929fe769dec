/**
 * Files with command outputs that are too long for a model. The commands of the thread can read them. They are
 * removed with the thread.
 */
export interface OutputFileStore {
  /** The folder for a thread's outputs, which may not exist; null if the store has no files. */
  folder(threadId: string): string | null;
  /** Creates or truncates a file. Undefined if the store has no files. */
  create(threadId: string, name: string): Promise<CreatedOutput | undefined>;
}

export interface CreatedOutput {
  readonly path: string;
  append(bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}
