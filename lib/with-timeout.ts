/**
 * Returns the result of `work`. If `work` takes longer than `timeoutMs`, returns the result of `late`, which may throw.
 * The work itself continues, and its later result or error is ignored.
 */
export async function withTimeout<T>(work: Promise<T>, timeoutMs: number, late: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  }).then(late);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {});
  }
}
