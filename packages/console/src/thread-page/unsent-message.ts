import type { Mentions } from "./message-input.ts";

/** A message that was typed and not sent. Pictures are not stored: they can be larger than a browser's storage. */
export interface UnsentMessage {
  readonly text: string;
  readonly mentions: Mentions;
}

const EMPTY: UnsentMessage = { text: "", mentions: new Map() };

/** The unsent message that the window has stored under this key. Empty if there is none, or storage is blocked. */
export function storedUnsent(key: string): UnsentMessage {
  try {
    const stored = sessionStorage.getItem(key);
    if (stored === null) return EMPTY;
    const { text, mentions } = JSON.parse(stored);
    return typeof text === "string" ? { text, mentions: new Map(mentions) } : EMPTY;
  } catch {
    return EMPTY;
  }
}

export function storeUnsent(key: string, { text, mentions }: UnsentMessage): void {
  try {
    if (text === "") sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify({ text, mentions: [...mentions] }));
  } catch {
    // If storage is blocked or full, only the open page has the message.
  }
}
