import { integer, type Schema } from "@bobbin/protocol/schema";

/** The last valid time of a Date. The difference of any two times is a safe integer. */
const LAST_MS = 8_640_000_000_000_000;

/** Milliseconds since 1970. */
export const time = (): Schema<number> => integer("int64", { minimum: 0, maximum: LAST_MS });

/** A count or an index. */
export const count = (): Schema<number> => integer("uint32");
