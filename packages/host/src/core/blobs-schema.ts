import { record, string } from "@bobbin/protocol/schema";

/** The names of the blobs that hold large parts of a record. */
export const BLOBS = record(string());
