// Registers work for the end of each test file. Test files share a worker and its modules, so `afterAll` at the top
// of a module would run only for the first file.

type Work = () => void | Promise<void>;

const works: Work[] = [];

/** Registers work that runs at the end of every test file of this worker. */
export function atFileEnd(work: Work): void {
  works.push(work);
}

/** Runs the registered work in reverse order, because later work may depend on what earlier work removes. */
export async function endFile(): Promise<void> {
  const failures: unknown[] = [];
  for (const work of works.toReversed()) {
    try {
      await work();
    } catch (cause) {
      failures.push(cause);
    }
  }
  if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures);
}
