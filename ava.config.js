export default {
  // `npm test` writes one file per group of tests for one process, the longest groups first.
  files: [`${process.env.HERON_TEST_GROUPS}/*.test.mjs`],
  // Threads that help to collect garbage wait busily for each other, as three processes share two processors.
  nodeArguments: ['--enable-source-maps', '--no-deprecation', '--single-threaded-gc'],
  workerThreads: false,
  concurrency: Number(process.env.HERON_TEST_PROCESSES),
  sortTestFiles: (a, b) => a.localeCompare(b),
  timeout: '2m',
  environmentVariables: { NODE_ENV: 'test' },
};
