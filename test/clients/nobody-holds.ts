import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "../support/eventually.ts";

/** Clients stop their host without waiting for it: a thread can be had by the next one when it is really gone. */
export async function nobodyHolds(home: string): Promise<void> {
  await eventually(
    async () => (await readdir(join(home, "live"))).every((name) => name === "takeover.lock"),
    "no host is left on the home",
  );
}
