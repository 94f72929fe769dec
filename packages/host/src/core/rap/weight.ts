import type { ThreadState } from "../state.ts";
import { sum, weightOf } from "../weight.ts";
import type { View } from "./records.ts";

/** What a thread holds of tool servers, all in all: it is in memory, and in every checkpoint. */
const MAX_WEIGHT = 16 * 1024 * 1024;
/** Of that, what stays until its server takes it back: there has to be room for what comes and goes. */
const MAX_VIEWS_WEIGHT = MAX_WEIGHT / 2;

/** Each of these is weighed once: they do not change, and are asked for with all that comes. */
const known = new WeakMap<object, number>();

function knownWeight(value: unknown): number {
  if (typeof value !== "object" || value === null) return weightOf(value);
  const before = known.get(value);
  if (before !== undefined) return before;
  const weight = weightOf(value);
  known.set(value, weight);
  return weight;
}

/** There is no room in a thread for what comes from a tool server. */
export function isFullFor(state: ThreadState, coming: object): boolean {
  return rapWeight(state) + knownWeight(coming) > MAX_WEIGHT;
}

/** It takes the place of what its type had before. */
export function isFullForView({ rap }: ThreadState, type: string, content: View["content"]): boolean {
  const others = rap.views.filter((view) => view.type !== type);
  return Object.keys(content).length > 0 && sum([...others, content], knownWeight) > MAX_VIEWS_WEIGHT;
}

function rapWeight({ rap, requests, children }: ThreadState): number {
  const { subscriptions, late, events, choices, views, keys } = rap;
  const asked = requests.filter(({ aside }) => aside !== undefined);
  const parts: readonly unknown[] = [
    ...subscriptions,
    ...late,
    ...events,
    ...children.map(({ task }) => task?.event),
    ...choices,
    ...views,
    ...keys,
    ...asked,
  ];
  return sum(parts, knownWeight);
}
