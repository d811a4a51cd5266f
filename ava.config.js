/** Files that take longest, which begin first: one that began last would run alone at the end. */
const LONGEST = [
  'test/simulation/simulation.test.mjs',
  'test/fuzz/fuzz.test.mjs',
  'test/faults/flows.test.mjs',
  'test/faults/smoke.test.mjs',
  'test/dashboard/pages.test.mjs',
  'test/suites/deploy.test.mjs',
  'test/suites/every-problem.test.mjs',
  'test/suites/walk-access.test.mjs',
  'test/suites/runs-cli.test.mjs',
  'test/suites/first-campaign.test.mjs',
  'test/suites/kubernetes.test.mjs',
  'test/engine/goal-replays.test.mjs',
  'test/dashboard/',
  'api/audit/routes.test.mjs',
];

function rank(file) {
  const place = LONGEST.findIndex((part) => file.includes(`/${part}`));
  return place === -1 ? LONGEST.length : place;
}

export default {
  // `npm test` bundles the tests that it is to run, and names the folder of the bundle.
  files: [`${process.env.HERON_TEST_BUNDLE}/**/*.test.mjs`],
  nodeArguments: ['--enable-source-maps', '--no-deprecation'],
  require: ['./test/file-times.mjs'],
  workerThreads: false,
  // Tests wait more than they compute: a third process uses what two leave of two processors. A fourth makes nothing faster.
  concurrency: 3,
  sortTestFiles: (a, b) => rank(a) - rank(b),
  timeout: '2m',
  environmentVariables: { NODE_ENV: 'test' },
};
