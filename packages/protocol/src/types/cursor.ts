import { experimental, string } from "../schema-language.ts";

/**
 * Position of a durable notification in its thread's journal. Sent only to clients with the capability `eventCursor`.
 */
export const cursor = () => ({ cursor: experimental(string(), { ours: true }) });
