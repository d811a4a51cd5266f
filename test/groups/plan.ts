/** Time (s) of a file's tests that was never noted. */
const UNKNOWN_SECONDS = 2;
/** Time (s) of the tests of a group, unless one file takes longer. Loading takes two to three seconds more. */
const GROUP_SECONDS = 60;

/**
 * Divides test files into groups, each for one process. Files of a folder stand together, since they load the same modules; the longest
 * groups come first, so that none is left to run alone at the end.
 * @param seconds time (s) that each file took before
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
