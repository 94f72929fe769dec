import { coldStart } from "../lib/cold-start.mjs";
import { manyEntriesHome } from "../lib/large-config.mjs";

export const name = "cold-start-config";
export const about = "cold-start with a configuration of 200 values";

export const measure = coldStart(name, manyEntriesHome);
