import { expect, it } from "vitest";
import { readNotify } from "./notify-settings.ts";

it.each([
  [{}, null],
  [{ notify: [] }, null],
  [{ notify: ["say", "-v"] }, { command: ["say", "-v"], url: null, events: ["turn"], isPlain: true }],
  [
    { notify: { url: "https://h/x" } },
    { command: null, url: "https://h/x", events: ["turn", "approval"], isPlain: false },
  ],
  [
    { notify: { command: ["say"], events: ["approval"] } },
    { command: ["say"], url: null, events: ["approval"], isPlain: false },
  ],
])("reads notify: %j", (table, expected) => {
  expect(readNotify(table)).toEqual(expected);
});

it.each([
  [{ notify: { url: "ftp://h" } }, "notify.url: expected an address with http or https"],
  [{ notify: { events: ["turns"] } }, 'notify.events: "turns" is not one of turn, approval'],
  [{ notify: [""] }, "notify: expected a program"],
  [{ notify: "say" }, "notify"],
])("refuses notify: %j", (table, message) => {
  expect(() => readNotify(table)).toThrow(message);
});
