import { experimental, string } from "../schema.ts";

/** Where a durable notification stands in its thread's journal; only sent to who asked for cursors. */
export const cursor = () => ({ cursor: experimental(string(), { ours: true }) });
