import { integer, type Schema } from "@bobbin/protocol/schema";

/** The last millisecond that a date can name: the distance of any two times is a safe integer. */
const LAST_MS = 8_640_000_000_000_000;

/** Milliseconds since the epoch. */
export const time = (): Schema<number> => integer("int64", { minimum: 0, maximum: LAST_MS });

/** How many of something there are, or which of them it is. */
export const count = (): Schema<number> => integer("uint32");
