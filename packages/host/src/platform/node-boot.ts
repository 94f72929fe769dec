import { readFileSync } from "node:fs";
import type { Boot } from "./platform.ts";

/** Linux names each run of the machine. */
const NAME = "/proc/sys/kernel/random/boot_id";
/** Elsewhere it is told by its beginning, which is as exact as the clock. */
const SINCE = "since ";
const NEAR_SECONDS = 30;

export const nodeBoot: Boot = {
  id: async () => name() ?? `${SINCE}${await beginning()}`,
  async isNow(id) {
    if (!id.startsWith(SINCE)) return id === name();
    return Math.abs(Number(id.slice(SINCE.length)) - (await beginning())) < NEAR_SECONDS;
  },
};

function name(): string | undefined {
  try {
    return readFileSync(NAME, "utf8").trim();
  } catch {
    return undefined;
  }
}

async function beginning(): Promise<number> {
  const { uptime } = await import("node:os");
  return Math.round(Date.now() / 1000 - uptime());
}
