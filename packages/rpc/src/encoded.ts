declare const TYPE: unique symbol;

/** A value as JSON that is made already: what goes out twice, or lies on the disk as JSON, is not made again. */
export class Encoded<out T> {
  declare readonly [TYPE]: T;
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }

  static of<T>(value: T): Encoded<T> {
    return new Encoded(JSON.stringify(value));
  }

  /** An object of which one member is encoded already. */
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

/** JSON of a value, or what it was encoded to. */
export function jsonOf(value: unknown): string {
  return value instanceof Encoded ? value.json : JSON.stringify(value);
}
