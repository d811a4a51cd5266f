export default {
  files: ['**/*.test.ts', '!dist/**', '!.heron/**'],
  extensions: { ts: 'module' },
  nodeArguments: [`--import=${new URL('local/loader/register.mjs', import.meta.url)}`],
  workerThreads: false,
  // Tests wait more than they compute: a third process uses what two leave of two processors.
  concurrency: 3,
  timeout: '2m',
  environmentVariables: { NODE_ENV: 'test' },
};
