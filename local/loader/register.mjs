import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import { joinPackages } from './packages.mjs';
import { nameSourceLines } from './stacks.mjs';

// Node begins every thread with this too. Those that packages start run nothing of ours, and need no thread of hooks beside them.
if (isMainThread || !/[\\/]node_modules[\\/]/.test(process.argv[1] ?? '')) {
  process.noDeprecation = true;
  nameSourceLines();
  // Whoever comes while another process joins them does it, too.
  register('./hooks.mjs', { parentURL: import.meta.url, data: await joinPackages() });
}
