/** A worker process with the three counting subscribers of the test harness and nothing else. */
import '../../test/harness/reaction-process.ts';
