export default {
  files: ['**/*.test.ts', '!dist/**', '!.heron/**'],
  extensions: { ts: 'module' },
  nodeArguments: ['--import=tsx', '--no-deprecation'],
  workerThreads: false,
  concurrency: 2,
  timeout: '2m',
  environmentVariables: { NODE_ENV: 'test' },
};
