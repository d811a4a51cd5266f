export default {
  // `npm test` writes one file per group of tests for one process, the longest groups first.
  files: [`${process.env.HERON_TEST_GROUPS}/*.test.mjs`],
  nodeArguments: ['--enable-source-maps', '--no-deprecation'],
  workerThreads: false,
  concurrency: Number(process.env.HERON_TEST_PROCESSES),
  sortTestFiles: (a, b) => a.localeCompare(b),
  timeout: '2m',
  environmentVariables: { NODE_ENV: 'test' },
};
