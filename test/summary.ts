import { stripVTControlCharacters } from 'node:util';

/** How many tests ended how. */
interface Totals {
  passed: number;
  failed: number;
  skipped: number;
}

const PASSED = /^ {2}[✔√] /;
const FAILED = /^ {2}[✘×] |^ {2}(Uncaught exception|Unhandled rejection) in /;
const SKIPPED = /^ {2}- \[skip\] (.*)$/;
const END_OF_RESULTS = /^ {2}[─-]$/;
/** Lines of a failure that do not tell its cause: blank ones, stacks, excerpts of code, the count at the end. */
const BESIDE_THE_CAUSE = /^\s*$|^\s+at |^\s*>? ?\d+:|^ {2}[─-]$|^\s*\d+ tests? failed/;
const MAX_CAUSE_LINES = 40;

/**
 * Counts along while ava's report goes by. ava prints one line per result, then a rule, then the failures in
 * full; what is counted stands before the rule, so nothing a failure quotes is mistaken for a result. Files
 * that crash, time out or hold no test count as one failure each.
 */
export class ReportReader {
  readonly totals: Totals = { passed: 0, failed: 0, skipped: 0 };
  /** The titles of the tests that were skipped. */
  readonly skipped: string[] = [];
  /** The lines of what failed, as ava gives them. */
  readonly failed: string[] = [];
  /** Whether the report has come to its end. */
  complete = false;
  /** The failures in full, as ava gives them after the results. */
  private readonly details: string[] = [];

  /** Takes one line without its line break; colours do not matter. */
  line(coloured: string): void {
    const line = stripVTControlCharacters(coloured);
    if (this.complete) {
      this.details.push(line);
      return;
    }
    const skipped = SKIPPED.exec(line);
    if (skipped) {
      this.totals.skipped += 1;
      this.skipped.push(skipped[1]!);
    } else if (PASSED.test(line)) this.totals.passed += 1;
    else if (FAILED.test(line)) {
      this.totals.failed += 1;
      this.failed.push(line.trim());
    } else if (END_OF_RESULTS.test(line)) this.complete = true;
  }

  /** The failures in short: their lines without stacks, excerpts of code and blank lines; of many failures the first ones. */
  causes(): string[] {
    return this.details.filter((line) => !BESIDE_THE_CAUSE.test(line)).slice(0, MAX_CAUSE_LINES);
  }
}
