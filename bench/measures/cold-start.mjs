import { coldStart } from "../lib/cold-start.mjs";

export const name = "cold-start";
export const about = "from spawn to the reply to initialize, on stdio";

export const measure = coldStart(name, {});
