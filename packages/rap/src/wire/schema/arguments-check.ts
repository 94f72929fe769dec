import type { JsonObject } from "../shape.ts";
import { Evaluation, type Ground } from "./evaluate.ts";
import type { Misfit } from "./place.ts";
import { refsOf } from "./refs.ts";
import { TooMuchWork, Work } from "./work.ts";

/** Tells what is wrong with arguments, in words that a model can act on; nothing if they fit. */
export type ArgumentsCheck = (args: unknown) => string | undefined;

/** Steps for arguments: some tenths of a second at the very worst. */
const STEPS = 2_000_000;
/** Steps for none at all: there may be a thousand tools in a toolset. */
const FEW_STEPS = 20_000;

/**
 * Prepares the check of a tool's arguments. Throws on a schema that can not be used: one whose ref points nowhere or
 * back at itself, or one that takes more work than is given to a check. A pattern that can not be decided in bounded
 * time, such as one that refers back, forbids nothing.
 *
 * @example
 * const check = argumentsCheck({ type: "object", required: ["city"] });
 * check({ city: "Bern" }); // undefined
 * check({}); // "must have the property \"city\""
 */
export function argumentsCheck(inputSchema: JsonObject): ArgumentsCheck {
  const refs = refsOf(inputSchema);
  const ground: Ground = { refs, patterns: new Map(), refStandsAlone: isOld(inputSchema) };
  new Evaluation(ground, new Work(FEW_STEPS)).run(inputSchema, {});
  return (args) => {
    try {
      const { misfits } = new Evaluation(ground, new Work(STEPS)).run(inputSchema, args);
      return misfits.length === 0 ? undefined : told(misfits);
    } catch (error) {
      if (error instanceof TooMuchWork) return `can not be checked: ${error.message}`;
      throw error;
    }
  };
}

function told(misfits: readonly Misfit[]): string {
  const lines = misfits.map(({ path, says }) => (path === "" ? says : `${path} ${says}`));
  return [...new Set(lines)].slice(0, 5).join("; ");
}

/** Of a draft before 2019. */
function isOld({ $schema }: JsonObject): boolean {
  return typeof $schema === "string" && /draft-0[3-7]/.test($schema);
}
