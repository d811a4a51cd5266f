import { parentPort, workerData } from 'node:worker_threads';
import type { Sentence } from './corpus.ts';
import { trainNetwork } from './network.ts';

/** Sentences and seed of a network that a thread trains. */
export interface NetworkTask {
  written: readonly Sentence[];
  seed: number;
}

/* Runs in a thread (lib/thread.ts): a network takes minutes, in which other parts of the model are trained. */
const { written, seed } = workerData as NetworkTask;
parentPort!.postMessage(trainNetwork(written, seed));
