/**
 * Resolves like `work`, or with the value of `late` (which may throw) when it has taken longer than `timeoutMs` (ms).
 * The work itself goes on; its result is then ignored, an error included.
 */
export async function within<T>(work: Promise<T>, timeoutMs: number, late: () => T): Promise<T> {
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
