import type { ThreadState } from "../state.ts";
import type { View } from "./records.ts";

/** What a thread holds of tool servers, all in all: it is in memory, and in every checkpoint. */
const MAX_WEIGHT = 16 * 1024 * 1024;
/** Of that, what stays until its server takes it back: there has to be room for what comes and goes. */
const MAX_VIEWS_WEIGHT = MAX_WEIGHT / 2;

/** Each of these is weighed once: they do not change, and are asked for with all that comes. */
const known = new WeakMap<object, number>();

/** How much of memory, and of every checkpoint, a value takes, about: characters, and a little for all else. */
function weightOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  const before = known.get(value);
  if (before !== undefined) return before;
  const weight = weighed(value);
  known.set(value, weight);
  return weight;
}

/** There is no room in a thread for what comes from a tool server. */
export function isFullFor(state: ThreadState, coming: object): boolean {
  return rapWeight(state) + weightOf(coming) > MAX_WEIGHT;
}

/** It takes the place of what its type had before. */
export function isFullForView({ rap }: ThreadState, type: string, content: View["content"]): boolean {
  const others = rap.views.filter((view) => view.type !== type);
  return Object.keys(content).length > 0 && sum([...others, content], weightOf) > MAX_VIEWS_WEIGHT;
}

function rapWeight({ rap, requests }: ThreadState): number {
  const { subscriptions, late, events, children, choices, views, keys } = rap;
  const asked = requests.filter(({ aside }) => aside !== undefined);
  const parts: readonly unknown[] = [
    ...subscriptions,
    ...late,
    ...events,
    ...children.map(({ event }) => event),
    ...choices,
    ...views,
    ...keys,
    ...asked,
  ];
  return sum(parts, weightOf);
}

function weighed(value: object): number {
  if (Array.isArray(value)) return 8 + sum(value, weighInside);
  return 8 + sum(Object.entries(value), ([name, inner]) => name.length + weighInside(inner));
}

/** Not kept: a value has many parts, and they are asked for with the whole. */
function weighInside(value: unknown): number {
  return typeof value === "object" && value !== null ? weighed(value) : weightOf(value);
}

function sum<T>(values: readonly T[], weigh: (value: T) => number): number {
  let total = 0;
  for (const value of values) total += weigh(value);
  return total;
}
