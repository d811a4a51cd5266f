import { joinPackages } from './test/loader/packages.mjs';

// Done once for each set of installed versions.
await joinPackages();

export default {
  files: ['**/*.test.ts', '!dist/**', '!.heron/**'],
  extensions: { ts: 'module' },
  nodeArguments: [
    `--import=${new URL('test/loader/register.mjs', import.meta.url)}`,
    '--enable-source-maps',
    '--no-deprecation',
  ],
  workerThreads: false,
  concurrency: 2,
  timeout: '2m',
  environmentVariables: { NODE_ENV: 'test' },
};
