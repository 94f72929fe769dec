import { expect, it } from "vitest";
import { BadCursor, readCursor, writeCursor } from "./list-cursor.ts";

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

it("gives back the position that it was made of, with and without the row itself", () => {
  for (const inclusive of [true, false]) {
    const position = { sort: -1.5, id: "täg", inclusive };
    expect(readCursor("updated_at", writeCursor("updated_at", position))).toEqual(position);
  }
});

it.each([
  ["no base64 of JSON", "not a cursor"],
  ["empty", ""],
  ["a number", encoded(4)],
  ["null", encoded(null)],
  ["an object with a length", encoded({ length: 4 })],
  ["too short", encoded(["created_at", 1, "t"])],
  ["too long", encoded(["created_at", 1, "t", 0, 0])],
  ["of another order", encoded(["updated_at", 1, "t", 0])],
  ["of no order", encoded([null, 1, "t", 0])],
  ["without a number to sort by", encoded(["created_at", "1", "t", 0])],
  ["without an id", encoded(["created_at", 1, 2, 0])],
  ["with a flag above 1", encoded(["created_at", 1, "t", 2])],
  ["with a flag that is true", encoded(["created_at", 1, "t", true])],
])("is refused if it is %s", (_, cursor) => {
  const read = () => readCursor("created_at", cursor);
  expect(read).toThrow(BadCursor);
  expect(read).toThrow(
    expect.objectContaining({ name: "BadCursor", cursor, message: `invalid cursor: ${cursor}` }),
  );
});
