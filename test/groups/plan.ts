/** Time (s) of a file without a recorded time. */
const UNKNOWN_SECONDS = 2;
/** Maximum and minimum time (s) of a group's tests, unless a single file takes longer. */
const MOST_SECONDS = 200;
const LEAST_SECONDS = 30;
/** Maximum share of a process's remaining time for one group. The remainder compensates for wrong estimates. */
const SHARE = 0.8;

/**
 * Divides test files into groups, one for each process. Files of a folder are kept together, because they load the same
 * modules. The longest groups are first and the last ones are short, so that no process runs alone at the end. A
 * process loads all modules again, which takes about as much processor time as the tests of ten files. So the number of
 * groups is as small as the limits allow.
 * @param seconds time (s) of each file in an earlier run
 * @param processes number of processes that run groups at the same time
 */
export function planGroups(files: readonly string[], seconds: Record<string, number>, processes: number): string[][] {
  const timed = files.toSorted().map((file) => ({ file, seconds: seconds[file] ?? UNKNOWN_SECONDS }));
  const total = timed.reduce((sum, each) => sum + each.seconds, 0);
  const least = Math.min(LEAST_SECONDS, total / processes);
  let left = total;
  const limit = (): number => Math.min(MOST_SECONDS, Math.max(least, (SHARE * left) / processes));
  const groups: { files: string[]; seconds: number; limit: number }[] = [];
  for (const { file, seconds: took } of timed) {
    const last = groups.at(-1);
    if (last && last.seconds + took <= last.limit) {
      last.files.push(file);
      last.seconds += took;
    } else groups.push({ files: [file], seconds: took, limit: limit() });
    left -= took;
  }
  return groups.sort((a, b) => b.seconds - a.seconds).map((group) => group.files);
}
