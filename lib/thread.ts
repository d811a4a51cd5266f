import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';

/** Maximum number of threads of one process. Further tasks wait. */
const THREADS = 2;
/** Memory limit (MB) of one thread. A task that needs more memory ends with an error, and the process continues. */
const MEMORY_MB = 512;

const limitThreads = pLimit(THREADS);

/**
 * Runs CPU-bound work in its own thread, so that the event loop stays responsive. The module reads its task from
 * `workerData` and posts its result to `parentPort`; both are copied.
 * @param module URL of the module without its file extension; deploy/build.ts lists it among the entry points
 * @throws Error when the thread fails or ends without a result
 */
export function runInThread<Task, Result>(module: URL, task: Task): Promise<Result> {
  return limitThreads(
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

/**
 * Returns the program that a thread runs. In a build, this is the compiled module in the folder of the command line.
 * From source, this is a loader that compiles the module first.
 */
function programOf(module: URL): { file: URL; argv: string[] } {
  if (!import.meta.url.endsWith('.ts'))
    return { file: new URL(`../deploy/${basename(module.pathname)}.js`, import.meta.url), argv: [] };
  return { file: new URL('../bundle/run.mjs', import.meta.url), argv: [fileURLToPath(`${module.href}.ts`)] };
}
