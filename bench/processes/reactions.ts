/** Worker process with only the three counting subscribers of the test harness. */
import '../../test/harness/reaction-process.ts';
