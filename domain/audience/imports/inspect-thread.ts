import { parentPort, workerData } from 'node:worker_threads';
import { inspectFile, type Inspection } from './inspect.ts';

/* Runs in a thread (lib/thread.ts): a file may take seconds, in which the process serves other requests. */
parentPort!.postMessage(await inspectFile(workerData as Inspection));
