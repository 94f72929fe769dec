// Splits the code of a file into regions (blocks, cases, bodies of functions), and reports which of them a test enters.
// A test that never enters the region of a change cannot notice the change.
import { parseSync } from "vite";
import { visit } from "./syntax.mjs";

/** The name of the global array in which an entered region sets its number to 1. */
export const ENTERED = "__bobbinEntered";

/**
 * Returns the regions of a file in the order of the code, and its source with a mark at the start of each. The code
 * outside of all regions runs when the module is loaded. Numbers begin at `first`.
 */
export function regionsOf(file, source, first) {
  const { program } = parseSync(file, source);
  const regions = [];
  const inserts = [];
  const mark = () => `(globalThis.${ENTERED}??=[])[${first + regions.length}]=1`;
  const add = (from, to, before, after, at = from, end = to) => {
    inserts.push([at, before], ...(after === "" ? [] : [[end, after]]));
    regions.push({ number: first + regions.length, start: from, end: to });
  };
  visit(program, (node) => {
    if (node.type === "BlockStatement") add(node.start, node.end, `${mark()};`, "", node.start + 1);
    else if (node.type === "SwitchCase" && node.consequent.length > 0)
      add(node.consequent[0].start, node.end, `${mark()};`, "");
    else if (node.type === "ArrowFunctionExpression" && node.body.type !== "BlockStatement")
      add(node.body.start, node.body.end, `(${mark()},`, ")");
  });
  return { regions, marked: inserted(source, inserts) };
}

/** The number of the innermost region around a change, or undefined for code that runs when the module is loaded. */
export function regionAt(regions, { start, end }) {
  const around = regions.filter((region) => region.start <= start && end <= region.end);
  return around.sort((one, other) => one.end - one.start - (other.end - other.start))[0]?.number;
}

/** Of two texts at one place the first one listed comes first, except that inner ends come before outer ends. */
function inserted(source, inserts) {
  const opening = inserts.filter(([, text]) => text !== ")");
  const closing = inserts.filter(([, text]) => text === ")").reverse();
  const ordered = [...closing, ...opening].sort(([one], [other]) => one - other);
  let result = "";
  let from = 0;
  for (const [at, text] of ordered) {
    result += source.slice(from, at) + text;
    from = at;
  }
  return result + source.slice(from);
}
