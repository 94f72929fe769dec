import { readFileSync } from "node:fs";
import type { Boot } from "./platform.ts";

/** On Linux, each boot has an ID. */
const BOOT_ID_FILE = "/proc/sys/kernel/random/boot_id";
/** On other systems a boot is identified by its start time, which is only as exact as the clock. */
const SINCE = "since ";
const TOLERANCE_SECONDS = 30;

/** Identifies the current boot of the machine. */
export const nodeBoot: Boot = {
  id: async () => linuxBootId() ?? `${SINCE}${await bootTime()}`,
  async isNow(id) {
    if (!id.startsWith(SINCE)) return id === linuxBootId();
    return Math.abs(Number(id.slice(SINCE.length)) - (await bootTime())) < TOLERANCE_SECONDS;
  },
};

function linuxBootId(): string | undefined {
  try {
    return readFileSync(BOOT_ID_FILE, "utf8").trim();
  } catch {
    return undefined;
  }
}

async function bootTime(): Promise<number> {
  const { uptime } = await import("node:os");
  return Math.round(Date.now() / 1000 - uptime());
}
