import { enumeration, inline, nullable, string } from "@bobbin/protocol/schema";
import { RAP_EVENT } from "../rap/shapes.ts";

export const CHILD = inline(() => ({
  childId: string(),
  task: nullable(inline(() => ({ kind: enumeration("", ["event"]), event: RAP_EVENT }))),
}));
