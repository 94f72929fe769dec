import type { Log } from "../../observe/log.ts";
import type { LeaveOut } from "./commit-format.ts";

/** Limit on the remembered journals with reported damage. A remembered journal is not logged again at every read. */
const REMEMBERED = 1000;

interface Range {
  readonly from: number;
  readonly to: number;
}

/**
 * Logs the unreadable parts of journals: one log line per journal, and another one only if other parts are damaged
 * later.
 */
export class DamageReport {
  readonly #log: Log;
  readonly #reported = new Map<string, Range>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Starts the report of one pass over a journal. */
  reading(path: string): Reading {
    return new Reading((found) => this.#report(path, found));
  }

  #report(path: string, { count, bytes, range, first }: Found): void {
    const known = this.#reported.get(path);
    if (known !== undefined && known.from <= range.from && known.to >= range.to) return;
    this.#reported.delete(path);
    this.#reported.set(path, {
      from: Math.min(range.from, known?.from ?? range.from),
      to: Math.max(range.to, known?.to ?? range.to),
    });
    for (const oldest of this.#reported.keys()) {
      if (this.#reported.size <= REMEMBERED) break;
      this.#reported.delete(oldest);
    }
    this.#log.warn("parts of a journal cannot be read and were left out", { path, count, bytes, ...first });
  }
}

interface Found {
  readonly count: number;
  /** Bytes of all lines that are damaged, or that contain a damaged record. */
  readonly bytes: number;
  readonly range: Range;
  readonly first: { readonly start: number; readonly end: number; readonly why: string };
}

/** Counts the parts that one pass over a journal skips. */
export class Reading {
  readonly #report: (found: Found) => void;
  #found: Found | undefined;

  constructor(report: (found: Found) => void) {
    this.#report = report;
  }

  readonly leaveOut: LeaveOut = (start, end, why) => {
    const before = this.#found;
    this.#found = {
      count: (before?.count ?? 0) + 1,
      bytes: (before?.bytes ?? 0) + end - start,
      range: {
        from: Math.min(start, before?.range.from ?? start),
        to: Math.max(end, before?.range.to ?? end),
      },
      first: before?.first ?? { start, end, why },
    };
  };

  /** Ends the pass, and reports. */
  done(): void {
    if (this.#found !== undefined) this.#report(this.#found);
    this.#found = undefined;
  }
}
