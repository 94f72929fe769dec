import { expect, it } from "vitest";
import { nicknameFor } from "./nicknames.ts";

const ids = (integer: number) => ({ integer: () => integer });

it("gives each helper a name that no other has, however many there are", () => {
  const names: string[] = [];
  for (let nth = 0; nth < 200; nth++) names.push(nicknameFor(names, ids(nth * 7), null));
  expect(new Set(names).size).toBe(200);
  expect(names[0]).toMatch(/^[A-Z][a-z]+$/);
  expect(names.at(-1)).toMatch(/^[A-Z][a-z]+ \d$/);
});

it("takes the names of a role, and numbers them when all are taken", () => {
  expect(nicknameFor([], ids(4), ["Ann", "Bea"])).toBe("Ann");
  expect(nicknameFor(["Ann"], ids(4), ["Ann", "Bea"])).toBe("Bea");
  expect(nicknameFor(["Ann", "Bea"], ids(5), ["Ann", "Bea"])).toBe("Bea 2");
});
