/**
 * Returns true if a process with this pid runs. A process of another user, to which no signal may be sent, counts as
 * running.
 */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
