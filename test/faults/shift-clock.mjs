/**
 * Module to load before a process (`--import`). SIGUSR2 sets the clock of the process an hour ahead, and a second
 * signal corrects it. Monotonic clocks are not changed.
 */
import { isMainThread } from 'node:worker_threads';

const HOUR_MS = 3_600_000;
const RealDate = Date;
let aheadMs = 0;
const now = () => RealDate.now() + aheadMs;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, values, newTarget) => Reflect.construct(target, values.length > 0 ? values : [now()], newTarget),
  apply: () => new RealDate(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});

if (isMainThread) process.on('SIGUSR2', () => void (aheadMs = aheadMs === 0 ? HOUR_MS : 0));
