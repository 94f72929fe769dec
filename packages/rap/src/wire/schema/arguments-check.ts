import type { JsonObject } from "../shape.ts";
import type { Misfit } from "./keyword-context.ts";
import { resolveRefs } from "./refs.ts";
import { Evaluation, type PreparedSchema } from "./schema-evaluation.ts";
import { TooMuchWork, WorkBudget } from "./work-budget.ts";

/** Checks arguments. Returns a text that tells the model what to correct; undefined if the arguments are valid. */
export type ArgumentsCheck = (args: unknown) => string | undefined;

/** Work limit of one check: a few tenths of a second at worst. */
const STEPS = 2_000_000;
/** Work limit of the trial check of a new schema. Small, because a toolset may have a thousand tools. */
const TRIAL_STEPS = 20_000;

/**
 * Compiles a JSON Schema into a check of a tool's arguments. Throws if the schema cannot be used: a ref has no target
 * or leads back to itself, or a check of empty arguments exceeds the work limit. A pattern that cannot be decided in
 * bounded time, such as one with backreferences, accepts everything.
 *
 * @example
 * const check = argumentsCheck({ type: "object", required: ["city"] });
 * check({ city: "Bern" }); // undefined
 * check({}); // "must have the property \"city\""
 */
export function argumentsCheck(inputSchema: JsonObject): ArgumentsCheck {
  const refs = resolveRefs(inputSchema);
  const prepared: PreparedSchema = { refs, patterns: new Map(), refStandsAlone: isOld(inputSchema) };
  new Evaluation(prepared, new WorkBudget(TRIAL_STEPS)).run(inputSchema, {});
  return (args) => {
    try {
      const { misfits } = new Evaluation(prepared, new WorkBudget(STEPS)).run(inputSchema, args);
      return misfits.length === 0 ? undefined : misfitsText(misfits);
    } catch (error) {
      if (error instanceof TooMuchWork) return `cannot be checked: ${error.message}`;
      throw error;
    }
  };
}

function misfitsText(misfits: readonly Misfit[]): string {
  const lines = misfits.map(({ path, says }) => (path === "" ? says : `${path} ${says}`));
  return [...new Set(lines)].slice(0, 5).join("; ");
}

/** Whether the schema declares a draft before 2019-09, in which keywords beside a `$ref` are ignored. */
function isOld({ $schema }: JsonObject): boolean {
  return typeof $schema === "string" && /draft-0[3-7]/.test($schema);
}
