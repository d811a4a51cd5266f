import { stripVTControlCharacters } from 'node:util';

/** Numbers of tests by result. */
interface Totals {
  passed: number;
  failed: number;
  skipped: number;
}

const PASSED = /^ {2}[✔√] /;
const FAILED = /^ {2}[✘×] |^ {2}(Uncaught exception|Unhandled rejection) in /;
const SKIPPED = /^ {2}- \[skip\] (.*)$/;
const END_OF_RESULTS = /^ {2}[─-]$/;
/**
 * Matches lines of a failure that do not contain its cause: blank lines, stacks, code excerpts, the count at the end.
 */
const BESIDE_THE_CAUSE = /^\s*$|^\s+at |^\s*>? ?\d+:|^ {2}[─-]$|^\s*\d+ tests? failed/;
const MAX_CAUSE_LINES = 40;

/**
 * Counts results while ava prints its report. ava prints a line for each result, then a rule, then the failures in
 * full. Only lines before the rule are counted, so that text quoted in a failure is not counted as a result. Files that
 * crash, time out or contain no test count as one failure each.
 */
export class ReportReader {
  readonly totals: Totals = { passed: 0, failed: 0, skipped: 0 };
  /** Titles of the skipped tests. */
  readonly skipped: string[] = [];
  /** Lines of failed tests, as ava prints them. */
  readonly failed: string[] = [];
  /** True once the report is complete. */
  complete = false;
  /** Lines of the full failures, which ava prints after the results. */
  private readonly details: string[] = [];

  /** Processes one line, without its line break. Ignores colours. */
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

  /** Returns the failures without stacks, code excerpts and blank lines; of many failures, only the first. */
  causes(): string[] {
    return this.details.filter((line) => !BESIDE_THE_CAUSE.test(line)).slice(0, MAX_CAUSE_LINES);
  }
}
