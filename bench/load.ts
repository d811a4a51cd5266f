import { Pool } from 'undici';

/**
 * Sends GET requests over keep-alive connections. Each connection sends the next request as soon as the previous one is
 * answered.
 * @param url address of every request
 * @returns answered requests per second
 * @throws Error on an answer other than 2xx and on a failed connection
 */
export async function requestRate(
  url: string,
  { connections, seconds, headers }: { connections: number; seconds: number; headers: Record<string, string> },
): Promise<number> {
  const { origin, pathname, search } = new URL(url);
  const pool = new Pool(origin, { connections });
  const start = performance.now();
  const end = start + seconds * 1000;
  let answered = 0;
  const connection = async (): Promise<void> => {
    while (performance.now() < end) {
      await getOnce(pool, `${pathname}${search}`, headers);
      answered += 1;
    }
  };
  try {
    await Promise.all(Array.from({ length: connections }, connection));
    return (answered * 1000) / (performance.now() - start);
  } finally {
    await pool.destroy();
  }
}

/**
 * Sends a number of GET requests over keep-alive connections. Each connection sends the next request as soon as the
 * previous one is answered.
 * @throws Error on an answer other than 2xx and on a failed connection
 */
export async function requestCount(
  url: string,
  { connections, count, headers }: { connections: number; count: number; headers: Record<string, string> },
): Promise<void> {
  const { origin, pathname, search } = new URL(url);
  const pool = new Pool(origin, { connections });
  let left = count;
  try {
    await Promise.all(
      Array.from({ length: connections }, async () => {
        for (; left > 0; left -= 1) await getOnce(pool, `${pathname}${search}`, headers);
      }),
    );
  } finally {
    await pool.destroy();
  }
}

async function getOnce(pool: Pool, path: string, headers: Record<string, string>): Promise<void> {
  const { statusCode, body } = await pool.request({ method: 'GET', path, headers });
  await body.dump();
  if (statusCode < 200 || statusCode > 299) throw new Error(`${path} answered ${statusCode}`);
}
