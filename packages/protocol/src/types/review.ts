import { enumeration, object, optional, type Static, string, tagged } from "../schema-language.ts";
import { Turn } from "./turn.ts";

export const ReviewDelivery = enumeration("ReviewDelivery", ["inline", "detached"]);
export type ReviewDelivery = Static<typeof ReviewDelivery>;

export const ReviewStartParams = object("ReviewStartParams", () => ({
  delivery: optional(ReviewDelivery),
  target: ReviewTarget,
  threadId: string(),
}));
export type ReviewStartParams = Static<typeof ReviewStartParams>;

export const ReviewStartResponse = object("ReviewStartResponse", () => ({
  reviewThreadId: string(),
  turn: Turn,
}));
export type ReviewStartResponse = Static<typeof ReviewStartResponse>;

export const ReviewTarget = tagged("ReviewTarget", "type", () => ({
  uncommittedChanges: {},
  baseBranch: { branch: string() },
  commit: { sha: string(), title: optional(string()) },
  custom: { instructions: string() },
}));
export type ReviewTarget = Static<typeof ReviewTarget>;
