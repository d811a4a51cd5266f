import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import { joinPackages } from './packages.mjs';
import { nameSourceLines } from './stacks.mjs';

// Node begins every thread with this too. Those that packages start run nothing of ours, and need no thread of hooks beside them.
const isOurs = isMainThread || !/[\\/]node_modules[\\/]/.test(process.argv[1] ?? '');
if (isOurs) {
  process.noDeprecation = true;
  nameSourceLines();
  // Whoever comes while another process joins them does it, too.
  const data = { packages: await joinPackages(), project: process.env.HERON_JOINED };
  register('./hooks.mjs', { parentURL: import.meta.url, data });
}
