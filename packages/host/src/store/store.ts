import type { Claims } from "./claims.ts";
import type { CredentialTexts } from "./credential-text-store.ts";
import type { DocumentStore } from "./documents.ts";
import type { Journal } from "./journal.ts";
import type { OutputFileStore } from "./output-file-store.ts";
import type { SecretTexts } from "./request-secrets.ts";
import type { StartIdempotencyKeys } from "./start-idempotency-keys.ts";
import type { ThreadIndex } from "./thread-index.ts";

/** The storage of a host. Every adapter implements this interface and passes the contract suite in test/store. */
export interface Store {
  readonly journal: Journal;
  readonly claims: Claims;
  readonly index: ThreadIndex;
  readonly startKeys: StartIdempotencyKeys;
  readonly outputs: OutputFileStore;
  readonly documents: DocumentStore;
  readonly secrets: SecretTexts;
  readonly credentials: CredentialTexts;
  /** Updates the index from a thread's journal, or removes the row if there is no journal. */
  catchUp(threadId: string): Promise<void>;
  /** Releases claims, writes pending data, and closes everything. */
  close(): Promise<void>;
}
