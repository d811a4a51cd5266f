/** Time (s) of a file without a recorded time. */
const UNKNOWN_SECONDS = 2;
/** Time (s) of the tests of a group, unless one file takes longer. Loading takes two to three seconds more. */
const GROUP_SECONDS = 60;

/**
 * Divides test files into groups, one for each process. Files of a folder are kept together, as they load the same
 * modules. The longest groups come first, so that none of them runs alone at the end.
 * @param seconds time (s) of each file in an earlier run
 * @param processes number of processes that run groups at the same time
 */
export function planGroups(files: readonly string[], seconds: Record<string, number>, processes: number): string[][] {
  const timed = files.toSorted().map((file) => ({ file, seconds: seconds[file] ?? UNKNOWN_SECONDS }));
  const total = timed.reduce((sum, each) => sum + each.seconds, 0);
  const limit = Math.min(GROUP_SECONDS, total / processes);
  const groups: { files: string[]; seconds: number }[] = [];
  for (const { file, seconds: took } of timed) {
    const last = groups.at(-1);
    if (last && last.seconds + took <= limit) {
      last.files.push(file);
      last.seconds += took;
    } else groups.push({ files: [file], seconds: took });
  }
  return groups.sort((a, b) => b.seconds - a.seconds).map((group) => group.files);
}
