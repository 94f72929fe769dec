/**
 * Secrets of server requests, such as authorization URLs. They are stored outside of the journal until the request is
 * answered.
 */
export interface SecretTexts {
  /** Saves a secret. Once the promise resolves, the secret survives a crash of the host. */
  save(threadId: string, requestId: number, text: string): Promise<void>;
  read(threadId: string, requestId: number): Promise<string | undefined>;
  remove(threadId: string, requestId: number): Promise<void>;
  list(): Promise<readonly { readonly threadId: string; readonly requestId: number }[]>;
}
