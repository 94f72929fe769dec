// `CryptoKey` is not a global name in every set of type definitions.
type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/**
 * Encrypts values for the store, so that a reader of the store cannot use them. AES-GCM, with a key derived from a
 * secret.
 */
export class ValueCipher {
  readonly #key: Promise<Key>;
  readonly #randomBytes: (length: number) => Uint8Array;

  constructor(secret: string, randomBytes: (length: number) => Uint8Array) {
    if (secret.length < 16) throw new TypeError("oauth.secret must have at least 16 characters");
    this.#key = keyOf(secret);
    this.#randomBytes = randomBytes;
  }

  async seal(value: unknown): Promise<string> {
    const iv = Uint8Array.from(this.#randomBytes(12));
    const plain = new TextEncoder().encode(JSON.stringify(value));
    const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, await this.#key, plain);
    return JSON.stringify([toBase64(iv), toBase64(new Uint8Array(sealed))]);
  }

  /** Decrypts a value. Undefined if it was encrypted with another secret, or was changed. */
  async open(sealed: string): Promise<unknown> {
    try {
      const [iv, data] = (JSON.parse(sealed) as [string, string]).map(fromBase64);
      const plain = await crypto.subtle.decrypt({ name: "AES-GCM", iv: iv! }, await this.#key, data!);
      return JSON.parse(new TextDecoder().decode(plain));
    } catch {
      return undefined;
    }
  }
}

async function keyOf(secret: string): Promise<Key> {
  const bytes = new TextEncoder().encode(secret);
  const base = await crypto.subtle.importKey("raw", bytes, "HKDF", false, ["deriveKey"]);
  const how = {
    name: "HKDF",
    hash: "SHA-256",
    salt: new Uint8Array(),
    info: new TextEncoder().encode("rap tokens"),
  };
  return crypto.subtle.deriveKey(how, base, { name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
}

const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));
const fromBase64 = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
