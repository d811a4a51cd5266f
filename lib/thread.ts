import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
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
 * @param module address of the module without its ending; deploy/build.ts lists it among the entry points
 * @throws Error when the thread fails or ends without a result
 */
export function runInThread<Task, Result>(module: URL, task: Task): Promise<Result> {
  return takeTurn(
    () =>
      new Promise<Result>((resolve, reject) => {
        const { file, argv } = programOf(module);
        const worker = new Worker(file, {
          argv,
          workerData: task,
          resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
        });
        worker.once('message', resolve);
        worker.once('error', reject);
        worker.once('exit', (code) => reject(new Error(`the thread ended without a result (${code})`)));
      }),
  );
}

/** Finds the program of a thread: the built module, which lies beside the command line, or, from source, what bundles it. */
function programOf(module: URL): { file: URL; argv: string[] } {
  if (!import.meta.url.endsWith('.ts'))
    return { file: new URL(`../deploy/${basename(module.pathname)}.js`, import.meta.url), argv: [] };
  return { file: new URL('../bundle/run.mjs', import.meta.url), argv: [fileURLToPath(`${module.href}.ts`)] };
}
