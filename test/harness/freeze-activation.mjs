/**
 * Module to load before a worker process (`--import`). Suspends the process in the middle of a workflow activation: the
 * first one after the file FREEZE_FILE was created. Removes the file just before.
 */
import { rmSync } from 'node:fs';
import vm from 'node:vm';
import { isMainThread } from 'node:worker_threads';

/**
 * Time (ms) by which the activation goes on after the suspension, so that a timer that expired in the meantime
 * interrupts it.
 */
const GOES_ON_MS = 300;

const { runInContext } = vm.Script.prototype;
const inMicrotask = new vm.Script('(callback) => void Promise.resolve().then(() => callback())');

function isRequested() {
  try {
    rmSync(process.env.FREEZE_FILE);
    return true;
  } catch {
    return false;
  }
}

function suspendProcess() {
  process.kill(process.pid, 'SIGSTOP');
  const until = performance.now() + GOES_ON_MS;
  while (performance.now() < until);
}

/** Calls with a timeout enter the workflow sandbox, and run its microtasks at their end. */
if (!isMainThread)
  vm.Script.prototype.runInContext = function (context, options) {
    if (options?.timeout !== undefined && isRequested()) runInContext.call(inMicrotask, context)(suspendProcess);
    return runInContext.call(this, context, options);
  };
