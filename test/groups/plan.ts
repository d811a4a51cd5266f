/** Time (s) of a file's tests that was never noted. */
const UNKNOWN_SECONDS = 2;
/** Time (s) of the tests of a group, unless one file takes longer. Loading takes two to three seconds more. */
const GROUP_SECONDS = 60;
/** Files whose tests stand each for itself, and which take so long that they are run in parts. */
const DIVIDED: Record<string, number> = {};

/** Test file, or one of equal parts of it, as a process runs it. */
export interface Member {
  file: string;
  part: number;
  of: number;
}

/**
 * Divides test files into groups, each for one process. Files of a folder stand together, since they load the same modules; the longest
 * groups come first, so that none is left to run alone at the end.
 * @param seconds time (s) that each file took before
 * @param processes number of processes that run groups at the same time
 */
export function planGroups(files: readonly string[], seconds: Record<string, number>, processes: number): Member[][] {
  const parts = files.toSorted().flatMap((file) => {
    const of = DIVIDED[file] ?? 1;
    const each = (seconds[file] ?? UNKNOWN_SECONDS) / of;
    return Array.from({ length: of }, (_, part) => ({ member: { file, part, of }, seconds: each }));
  });
  const total = parts.reduce((sum, part) => sum + part.seconds, 0);
  const limit = Math.min(GROUP_SECONDS, total / processes);
  const groups: { members: Member[]; seconds: number }[] = [];
  for (const part of parts) {
    const last = groups.at(-1);
    const isAlone = part.member.of > 1 || part.seconds > limit;
    if (last && !isAlone && last.seconds + part.seconds <= limit) {
      last.members.push(part.member);
      last.seconds += part.seconds;
    } else groups.push({ members: [part.member], seconds: part.seconds });
  }
  return groups.sort((a, b) => b.seconds - a.seconds).map(({ members }) => members);
}
