// Matches regular expressions in linear time, by simulating all states at once (Thompson's algorithm). `RegExp`
// backtracks, and a short hostile pattern can keep it busy for years.
import { type Edge, type PatternNode, parsePattern, UnsupportedPattern } from "./pattern-parser.ts";
import type { WorkBudget } from "./work-budget.ts";

/** A compiled pattern. */
export interface Pattern {
  /** Whether the pattern is found anywhere in the text. Throws TooMuchWork. */
  matches(text: string, work: WorkBudget): boolean;
}

/**
 * Compiles a regular expression. Undefined if it cannot be matched in linear time, as with backreferences. Throws a
 * SyntaxError if `source` is no regular expression, and TooMuchWork.
 */
export function compilePattern(source: string, work: WorkBudget): Pattern | undefined {
  work.spend(source.length);
  try {
    const program = new Compiler(work).compile(parsePattern(source), true);
    return { matches: (text, work) => new Search(text, work).finds(program, 0, true) };
  } catch (error) {
    if (error instanceof UnsupportedPattern) return undefined;
    throw error;
  }
}

type Step =
  | { readonly kind: "char"; has(codePoint: number): boolean }
  | Fork
  | { readonly kind: "edge"; readonly edge: Edge }
  | { readonly kind: "look"; readonly program: Program; readonly wanted: boolean }
  | { readonly kind: "found" };

interface Program {
  readonly steps: readonly Step[];
  readonly forward: boolean;
}

/** Limit on the steps of a program. Counted repetitions such as `a{1000}` are unrolled, so programs can get long. */
const MAX_STEPS = 20_000;

interface Fork {
  readonly kind: "fork";
  ways: readonly number[];
}

class Compiler {
  /** Programs of lookaheads and lookbehinds. Each is compiled once, even inside a counted repetition. */
  readonly #looks = new Map<PatternNode, Program>();
  readonly #work: WorkBudget;
  #length = 0;

  constructor(work: WorkBudget) {
    this.#work = work;
  }

  compile(pattern: PatternNode, forward: boolean): Program {
    const steps: Step[] = [];
    this.#write(pattern, steps, forward);
    this.#add(steps, { kind: "found" });
    return { steps, forward };
  }

  #add<S extends Step>(steps: Step[], step: S): S {
    this.#work.spend(1);
    if (this.#length++ === MAX_STEPS) throw new UnsupportedPattern("it is too long");
    steps.push(step);
    return step;
  }

  /** Adds a fork whose targets are filled in later, when their positions are known. */
  #fork(steps: Step[]): Fork {
    return this.#add<Fork>(steps, { kind: "fork", ways: [] });
  }

  #write(node: PatternNode, steps: Step[], forward: boolean): void {
    switch (node.kind) {
      case "set":
        this.#add(steps, { kind: "char", has: node.has });
        return;
      case "edge":
        this.#add(steps, node);
        return;
      case "look": {
        const program = this.#looks.get(node) ?? this.compile(node.part, node.ahead);
        this.#looks.set(node, program);
        this.#add(steps, { kind: "look", program, wanted: node.wanted });
        return;
      }
      case "sequence":
        for (const part of forward ? node.parts : node.parts.toReversed()) this.#write(part, steps, forward);
        return;
      case "either": {
        const begin = this.#fork(steps);
        const ends: Fork[] = [];
        begin.ways = node.parts.map((part) => {
          const at = steps.length;
          this.#write(part, steps, forward);
          ends.push(this.#fork(steps));
          return at;
        });
        for (const end of ends) end.ways = [steps.length];
        return;
      }
      case "repeat":
        this.#repeat(node.part, node.min, node.max, steps, forward);
    }
  }

  #repeat(part: PatternNode, min: number, max: number, steps: Step[], forward: boolean): void {
    for (let n = 0; n < min; n++) {
      const before = steps.length;
      this.#write(part, steps, forward);
      // An empty part stays empty, however often it is repeated.
      if (steps.length === before) return;
    }
    if (max === Number.POSITIVE_INFINITY) {
      const at = steps.length;
      const again = this.#fork(steps);
      this.#write(part, steps, forward);
      this.#fork(steps).ways = [at];
      again.ways = [at + 1, steps.length];
      return;
    }
    const skips: { readonly at: number; readonly fork: Fork }[] = [];
    for (let n = min; n < max; n++) {
      skips.push({ at: steps.length, fork: this.#fork(steps) });
      this.#write(part, steps, forward);
    }
    for (const { at, fork } of skips) fork.ways = [at + 1, steps.length];
  }
}

/** A search in one text. */
class Search {
  readonly #text: readonly number[];
  readonly #work: WorkBudget;
  /** Per program and step, the last round in which the step was reached. No step runs twice at one position. */
  readonly #reached = new Map<Program, { readonly rounds: Uint32Array; round: number }>();
  readonly #looked = new Map<Program, Map<number, boolean>>();

  constructor(text: string, work: WorkBudget) {
    work.spend(text.length);
    this.#text = Array.from(text, (char) => char.codePointAt(0)!);
    this.#work = work;
  }

  /** Whether the program matches at position `from` or, with `anywhere`, at `from` or a later position. */
  finds(program: Program, from: number, anywhere: boolean): boolean {
    const { steps, forward } = program;
    const end = forward ? this.#text.length : 0;
    let waiting = [0];
    for (let at = from; ; at += forward ? 1 : -1) {
      const chars = this.#follow(program, waiting, at);
      if (chars === undefined) return true;
      if (at === end || (chars.length === 0 && !anywhere)) return false;
      const char = this.#text[forward ? at : at - 1]!;
      waiting = chars.flatMap((step) =>
        (steps[step] as { has(c: number): boolean }).has(char) ? step + 1 : [],
      );
      if (anywhere) waiting.push(0);
    }
  }

  /** The character steps that are reachable without consuming a character; undefined if the program's end is. */
  #follow(program: Program, from: readonly number[], at: number): number[] | undefined {
    const { steps } = program;
    const reached = this.#reached.get(program) ?? { rounds: new Uint32Array(steps.length), round: 0 };
    this.#reached.set(program, reached);
    reached.round++;
    const chars: number[] = [];
    const todo = from.toReversed();
    for (let index = todo.pop(); index !== undefined; index = todo.pop()) {
      if (reached.rounds[index] === reached.round) continue;
      reached.rounds[index] = reached.round;
      this.#work.spend(1);
      const step = steps[index]!;
      if (step.kind === "found") return undefined;
      if (step.kind === "char") chars.push(index);
      else if (step.kind === "fork") todo.push(...step.ways);
      else if (
        step.kind === "edge" ? this.#isAt(step.edge, at) : this.#looks(step.program, at) === step.wanted
      )
        todo.push(index + 1);
    }
    return chars;
  }

  #looks(program: Program, at: number): boolean {
    const known = this.#looked.get(program) ?? new Map<number, boolean>();
    this.#looked.set(program, known);
    const found = known.get(at) ?? this.finds(program, at, false);
    known.set(at, found);
    return found;
  }

  #isAt(edge: Edge, at: number): boolean {
    switch (edge) {
      case "start":
        return at === 0;
      case "end":
        return at === this.#text.length;
      case "word":
        return isWord(this.#text[at - 1]) !== isWord(this.#text[at]);
      case "inside":
        return isWord(this.#text[at - 1]) === isWord(this.#text[at]);
    }
  }
}

function isWord(char: number | undefined): boolean {
  return char !== undefined && char < 128 && /\w/.test(String.fromCharCode(char));
}
