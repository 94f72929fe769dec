declare const TYPE: unique symbol;

/** A value that is already encoded as JSON, so that it is not encoded again when it is sent twice or read from disk. */
export class Encoded<out T> {
  declare readonly [TYPE]: T;
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }

  static of<T>(value: T): Encoded<T> {
    return new Encoded(JSON.stringify(value));
  }

  /** Encodes an object one of whose members is already encoded. */
  static with<T extends object, K extends keyof T & string>(
    rest: Omit<T, K>,
    key: K,
    member: Encoded<T[K]>,
  ): Encoded<T> {
    const others = JSON.stringify(rest);
    const end = others === "{}" ? "}" : `,${others.slice(1)}`;
    return new Encoded(`{${JSON.stringify(key)}:${member.json}${end}`);
  }
}

/** The JSON of a value, encoded or not. */
export function jsonOf(value: unknown): string {
  return value instanceof Encoded ? value.json : JSON.stringify(value);
}
