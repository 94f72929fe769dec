/** Limit on the factor: beyond it a deadline is none. */
const MAX_FACTOR = 100;

/**
 * A deadline of the host's own, made longer by BOBBIN_DEADLINE_FACTOR. The factor is for machines that are much slower
 * than usual, or busy with other work, as those that run tests often are.
 */
export function deadlineMs(ms: number, env: NodeJS.ProcessEnv = process.env): number {
  const factor = Number(env["BOBBIN_DEADLINE_FACTOR"] ?? 1);
  return factor >= 1 && factor <= MAX_FACTOR ? ms * factor : ms;
}
