import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';

/** Threads that one process has at once; further work waits. */
const THREADS = 2;
/** Memory of one thread (MB): work that needs more ends with an error, and the process goes on. */
const MEMORY_MB = 512;

const takeTurn = pLimit(THREADS);

/**
 * Does work that keeps a processor busy in a thread of its own, so that the event loop goes on serving. The module reads
 * its task from `workerData` and posts its result to `parentPort`; both are copied.
 * @param module address of the module without its ending, which is .ts or .js as that of the caller is
 * @throws Error when the thread fails or ends without a result
 */
export function runInThread<Task, Result>(module: URL, task: Task): Promise<Result> {
  return takeTurn(
    () =>
      new Promise<Result>((resolve, reject) => {
        const worker = new Worker(entryOf(module), {
          workerData: task,
          resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
        });
        worker.once('message', resolve);
        worker.once('error', reject);
        worker.once('exit', (code) => reject(new Error(`the thread ended without a result (${code})`)));
      }),
  );
}

/** Where a thread begins: at the compiled module, or, from source, at a line that lets it read TypeScript. */
function entryOf(module: URL): URL {
  if (!import.meta.url.endsWith('.ts')) return new URL(`${module.href}.js`);
  const loader = new URL('../local/loader/register.mjs', import.meta.url).href;
  const [register, source] = [loader, `${module.href}.ts`].map((url) => JSON.stringify(url));
  const lines = `import ${register}; await import(${source});`;
  return new URL(`data:text/javascript,${encodeURIComponent(lines)}`);
}
