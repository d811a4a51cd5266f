/** Files that take longest, which begin first: one that began last would run alone at the end. */
const LONGEST = [
  'test/simulation/simulation.test.ts',
  'test/fuzz/fuzz.test.ts',
  'test/faults/flows.test.ts',
  'test/faults/smoke.test.ts',
  'test/dashboard/pages.test.ts',
  'test/suites/deploy.test.ts',
  'test/suites/every-problem.test.ts',
  'test/suites/walk-access.test.ts',
  'test/suites/runs-cli.test.ts',
  'test/suites/first-campaign.test.ts',
  'test/suites/kubernetes.test.ts',
  'test/engine/goal-replays.test.ts',
  'test/dashboard/',
  'api/audit/routes.test.ts',
];

function rank(file) {
  const place = LONGEST.findIndex((part) => file.includes(`/${part}`));
  return place === -1 ? LONGEST.length : place;
}

export default {
  files: ['**/*.test.ts', '!dist/**', '!.heron/**'],
  extensions: { ts: 'module' },
  nodeArguments: [`--import=${new URL('local/loader/register.mjs', import.meta.url)}`],
  workerThreads: false,
  // Tests wait more than they compute: a third process uses what two leave of two processors. A fourth makes nothing faster.
  concurrency: 3,
  sortTestFiles: (a, b) => rank(a) - rank(b),
  timeout: '2m',
  environmentVariables: { NODE_ENV: 'test' },
};
