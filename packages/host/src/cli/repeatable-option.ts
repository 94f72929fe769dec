import { Option } from "commander";

/** An option that may be repeated; its value is the array of all values. */
export function repeatableOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value: string, all: string[] | undefined) => [
    ...(all ?? []),
    value,
  ]);
}
