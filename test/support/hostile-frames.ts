// Frames that no well-behaved client sends, and the reply that a host must send to each.
import { methods } from "@bobbin/protocol";
import fc from "fast-check";

const MAX_NESTING = 128;

export interface HostileFrame {
  /** Without a line end, so that the frame is one message on every transport. */
  readonly bytes: Uint8Array;
  /** The ID of its only reply, as JSON; undefined if there must be no reply. */
  readonly reply: string | undefined;
}

/** A placeholder for an existing thread, which `aim` replaces. */
const NO_THREAD = "01a1e0d3-0000-7000-8000-000000000000";

/** A list of hostile frames; the same seed gives the same list. */
export function hostileFrames(seed: number, count: number): HostileFrame[] {
  return fc.sample(frameBytes(), { seed, numRuns: count }).map((bytes) => ({ bytes, reply: owed(bytes) }));
}

/** The frame with the ID of a real thread in place of the placeholder. */
export function aim({ bytes }: HostileFrame, threadId: string): Uint8Array {
  const at = bytes.length > 5_000 ? -1 : Buffer.from(bytes).indexOf(NO_THREAD);
  if (at === -1) return bytes;
  const aimed = Buffer.from(bytes);
  aimed.write(threadId, at);
  return aimed;
}

function frameBytes(): fc.Arbitrary<Uint8Array> {
  const text = fc.oneof(
    { weight: 80, arbitrary: request() },
    { weight: 40, arbitrary: request().chain(truncated) },
    { weight: 30, arbitrary: request().chain(mutated) },
    { weight: 30, arbitrary: wrongTypes().map((value) => JSON.stringify(value) ?? "") },
    { weight: 20, arbitrary: fc.jsonValue({ maxDepth: 5 }).map((value) => JSON.stringify(value)) },
    { weight: 20, arbitrary: fc.string({ unit: "binary", maxLength: 80 }) },
    { weight: 8, arbitrary: nested(fc.constantFrom(100, 127, 200, 1_000)) },
    { weight: 1, arbitrary: nested(fc.constantFrom(10_000, 50_000)) },
    { weight: 8, arbitrary: long(fc.constantFrom(1_000, 5_000)) },
    { weight: 1, arbitrary: long(fc.constantFrom(70_000, 300_000)) },
  );
  const raw = fc.uint8Array({ maxLength: 60 });
  return (
    fc
      .oneof({ weight: 20, arbitrary: text.map((one) => Buffer.from(one)) }, { weight: 1, arbitrary: raw })
      .map((bytes) => (bytes.includes(0x0a) || bytes.includes(0x0d) ? bytes.filter(isNoLineEnd) : bytes))
      // Empty frames are left out: an empty line is ignored, but an empty WebSocket message is invalid JSON. All
      // other frames mean the same on both.
      .filter((bytes) => bytes.length > 0)
  );
}

const isNoLineEnd = (byte: number): boolean => byte !== 0x0a && byte !== 0x0d;

/** As text, because JSON.stringify would round these numbers. */
const ids = fc.oneof(
  fc.nat().map(String),
  fc.integer({ max: -1 }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((id) => JSON.stringify(id)),
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 80n }).map(String),
  fc.constant("1e999"),
  fc.string({ maxLength: 12 }).map((id) => JSON.stringify(id)),
  fc.string({ unit: "binary", maxLength: 5 }).map((id) => JSON.stringify(id)),
);

function request(): fc.Arbitrary<string> {
  const names = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...Object.keys(methods)) },
    {
      weight: 1,
      arbitrary: fc.constantFrom("", "constructor", "__proto__", "thread", "turn/started", "x".repeat(5000)),
    },
    { weight: 1, arbitrary: fc.string() },
  );
  const params = fc.oneof(
    fc.constant("{}"),
    fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
    turnParams().map((value) => JSON.stringify(value)),
  );
  return fc
    .tuple(
      ids,
      names,
      params,
      fc.constantFrom("", ',"jsonrpc":"2.0"', ',"__proto__":{"id":1}', ',"result":1'),
    )
    .map(
      ([id, method, given, more]) =>
        `{"id":${id},"method":${JSON.stringify(method)},"params":${given}${more}}`,
    );
}

/** Includes names that no folder can have. */
const folders = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("/a\0b", "/dev/null/x", `/${"x".repeat(300)}`, `/${"x/".repeat(3_000)}`),
);

/** Almost valid params, which get far into the host before they are refused, if at all. */
function turnParams(): fc.Arbitrary<unknown> {
  const part = fc.oneof(
    fc.record({
      type: fc.constant("text"),
      text: fc.string({ unit: "binary", maxLength: 50 }),
      junk: fc.jsonValue(),
    }),
    fc.record({ type: fc.constantFrom("text", "image", "skill", "x"), text: fc.jsonValue({ maxDepth: 1 }) }),
    fc.jsonValue({ maxDepth: 2 }),
  );
  return fc.record(
    {
      threadId: fc.oneof(fc.constant(NO_THREAD), fc.uuid(), fc.jsonValue({ maxDepth: 1 })),
      turnId: fc.oneof(fc.constant(""), fc.string(), fc.jsonValue({ maxDepth: 1 })),
      expectedTurnId: fc.string(),
      input: fc.oneof(fc.array(part, { maxLength: 3 }), fc.jsonValue({ maxDepth: 2 })),
      outputSchema: fc.jsonValue({ maxDepth: 4 }),
      cwd: fc.oneof(folders, fc.jsonValue({ maxDepth: 1 })),
      cwds: fc.oneof(fc.array(folders, { maxLength: 3 }), fc.jsonValue({ maxDepth: 1 })),
      limit: fc.oneof(fc.integer(), fc.double(), fc.jsonValue({ maxDepth: 1 })),
      cursor: fc.oneof(fc.string(), fc.nat().map(String)),
    },
    { requiredKeys: ["threadId"] },
  );
}

function truncated(text: string): fc.Arbitrary<string> {
  return fc.nat({ max: text.length }).map((length) => text.slice(0, length));
}

/** Replaces one byte of the text. */
function mutated(text: string): fc.Arbitrary<string> {
  return fc
    .tuple(
      fc.nat({ max: text.length - 1 }),
      fc.constantFrom("{", "}", "[", "]", '"', ",", ":", "\\", "0", "é", "\u2028", "x"),
    )
    .map(([at, put]) => text.slice(0, at) + put + text.slice(at + 1));
}

function wrongTypes(): fc.Arbitrary<unknown> {
  const anything = fc.jsonValue({ maxDepth: 2 });
  return fc.record(
    {
      id: anything,
      method: fc.oneof(anything, fc.constantFrom("model/list", "initialize", "initialized")),
      params: anything,
      result: anything,
      error: anything,
      jsonrpc: anything,
    },
    { requiredKeys: [] },
  );
}

function nested(depths: fc.Arbitrary<number>): fc.Arbitrary<string> {
  return fc
    .tuple(ids, depths, fc.constantFrom('{"a":', "["), fc.boolean())
    .map(([id, depth, open, closed]) => {
      const end = closed ? (open === "[" ? "]" : "}").repeat(depth) : "";
      const inside = `${open.repeat(depth)}${closed ? "1" : ""}${end}`;
      return `{"id":${id},"method":"thread/start","params":{"config":{"x":${inside}}}}`;
    });
}

function long(lengths: fc.Arbitrary<number>): fc.Arbitrary<string> {
  return fc
    .tuple(ids, lengths, fc.constantFrom("x", '\\"', "\\\\", "é"))
    .map(
      ([id, length, unit]) => `{"params":{"pad":"${unit.repeat(length)}"},"method":"model/list","id":${id}}`,
    );
}

/** Computes the expected reply without using the host's own code. */
function owed(bytes: Uint8Array): string | undefined {
  let message: unknown;
  try {
    message = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return "null";
  }
  if (typeof message !== "object" || message === null || Array.isArray(message)) return "null";
  const { id, method, result, error } = message as Record<string, unknown>;
  const isReadable = typeof id === "string" || typeof id === "number";
  const reply = isReadable ? JSON.stringify(id) : "null";
  if (isTooDeep(message)) return reply;
  if (typeof method === "string" && id === undefined) return undefined;
  if (method === undefined && isReadable && (result !== undefined || error !== undefined)) return undefined;
  return reply;
}

/** Whether a value is nested more deeply than the host accepts. */
function isTooDeep(value: unknown, levels = MAX_NESTING): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((one) => isTooDeep(one, levels - 1));
}
