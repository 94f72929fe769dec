/** The beginning of the lines that scripts/progress-reporter.mjs prints again at the end of a run. */
const MISSING = "not on this machine: ";

/**
 * Whether this machine has what some tests need. With BOBBIN_REQUIRE_NAME=1, as in CI, these tests fail rather than be
 * skipped; else the end of the run says why they were skipped.
 */
export function isHere(
  name: "SANDBOX" | "BROWSER" | "DISKS" | "NAMES" | "USERS",
  works: boolean,
  why: string,
): boolean {
  if (works || process.env[`BOBBIN_REQUIRE_${name}`] === "1") return true;
  console.warn(MISSING + why);
  return false;
}

/** Whether tests can run programs as another user. */
export const hasOtherUsers = (): boolean =>
  isHere(
    "USERS",
    process.getuid?.() === 0,
    "the right to become another user, for tests with two users (root)",
  );
