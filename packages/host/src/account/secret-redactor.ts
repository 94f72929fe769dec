/** Minimum length of a secret. Redacting shorter values would damage ordinary texts. */
const LEAST_SECRET = 8;
/** Limit on the remembered secrets. The oldest are forgotten, because tokens are renewed often. */
const MOST = 256;

/** Remembers the secrets that this host has read or created, and replaces them in texts by "[redacted]". */
export class SecretRedactor {
  readonly #values = new Set<string>();

  add(...values: readonly (string | null | undefined)[]): void {
    for (const value of values) {
      if (value == null || value.length < LEAST_SECRET) continue;
      // Moves the value to the end, as the newest one.
      this.#values.delete(value);
      this.#values.add(value);
      if (this.#values.size > MOST) this.#values.delete(this.#values.values().next().value!);
    }
  }

  values(): readonly string[] {
    return [...this.#values];
  }

  hide(text: string): string {
    let clean = text;
    for (const value of this.#values) clean = clean.replaceAll(value, "[redacted]");
    return clean;
  }
}
