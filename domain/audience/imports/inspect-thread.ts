import { parentPort, workerData } from 'node:worker_threads';
import { inspectFile, type Inspection } from './inspect.ts';

/**
 * This file runs in a thread (lib/thread.ts), so that the process can serve other requests during the seconds that a
 * file may take.
 */
parentPort!.postMessage(await inspectFile(workerData as Inspection));
