/**
 * The linter's rules, and the arrows of the house: which folder may import which. A folder that is not listed as
 * allowed is refused, so the imports cannot form a cycle. test/house.test.ts plants violations of all of them.
 */

/** Folders at the top level, and those of them that each may import. */
const HOUSE = {
  bundle: [],
  client: [],
  lib: [],
  db: ['lib'],
  workflows: [],
  temporal: ['db', 'lib', 'workflows'],
  domain: ['db', 'lib', 'temporal', 'workflows'],
  activities: ['domain', 'lib', 'workflows'],
  workers: ['activities', 'db', 'domain', 'lib', 'temporal', 'workflows'],
  api: ['domain', 'lib', 'web', 'workflows'],
  deploy: ['activities', 'api', 'bundle', 'client', 'db', 'domain', 'lib', 'temporal', 'web', 'workers', 'workflows'],
  local: ['bundle', 'db', 'deploy', 'domain', 'lib', 'temporal', 'web', 'workflows'],
  examples: ['client', 'db', 'deploy', 'domain', 'lib', 'local', 'temporal', 'test', 'web', 'workers', 'workflows'],
  bench: [
    'activities',
    'bundle',
    'db',
    'deploy',
    'domain',
    'examples',
    'lib',
    'local',
    'temporal',
    'test',
    'web',
    'workers',
    'workflows',
  ],
  test: null,
  web: ['client', 'lib'],
};

/** What every folder of domain/ may import, from the bottom up. */
const WINGS = {
  kernel: [],
  mail: [],
  records: ['kernel', 'mail'],
  engine: ['kernel', 'mail', 'records'],
  leads: ['kernel', 'mail', 'records', 'engine', 'approvals'],
  identity: ['kernel', 'records'],
  approvals: ['kernel', 'mail', 'records', 'identity'],
  delivery: ['kernel', 'records'],
  reactions: ['kernel'],
  facts: ['kernel'],
  people: ['kernel'],
  triggers: ['kernel'],
};

/** The areas above the wings. Each may import every wing, and besides only the areas that are listed. */
const AREAS = {
  acquisition: [],
  analytics: ['warmup'],
  'agent-policies': [],
  'api-keys': [],
  'app-connections': [],
  audit: [],
  auth: ['api-keys', 'organizations'],
  automations: ['app-connections', 'crm', 'integrations', 'suppressions', 'unibox'],
  campaigns: ['warmup'],
  contacts: ['direct-sends', 'integrations', 'verification'],
  crm: [],
  deliverability: [],
  'direct-sends': [],
  'domain-renewals': ['mailbox-orders', 'payments'],
  goals: [],
  imports: ['contacts'],
  instance: ['warmup'],
  integrations: ['meetings', 'webhooks'],
  labels: [],
  'lead-database': [],
  meetings: ['crm'],
  'mailbox-orders': ['mailboxes', 'payments'],
  mailboxes: [],
  oauth: ['webhooks'],
  organizations: ['oauth'],
  'outreach-settings': [],
  'payment-events': ['domain-renewals', 'mailbox-orders', 'payments'],
  payments: [],
  'product-events': [],
  'prospect-catalogue': ['contacts', 'imports', 'verification'],
  realtime: [],
  runs: ['campaigns', 'contacts'],
  segments: [],
  'step-runs': [],
  subscribers: ['automations', 'crm', 'goals', 'integrations', 'runs'],
  suppressions: [],
  system: ['domain-renewals', 'goals', 'integrations', 'mailbox-orders', 'payments', 'subscribers'],
  tasks: ['system'],
  teams: [],
  templates: [],
  'test-runs': ['contacts'],
  tracking: [],
  unibox: [],
  verification: [],
  warmup: ['mailboxes'],
  webhooks: [],
  'weekly-reports': ['analytics'],
};

/** Folders inside a wing, and their neighbours that each may import. `.` is the wing's own folder. */
const ROOMS = {
  mail: { '.': [], messages: ['.'], inbound: ['.'] },
  records: { '.': ['schedule'], schedule: [], segment: ['.'], predicates: ['.'] },
  engine: {
    campaign: [],
    control: ['campaign'],
    outcomes: ['campaign', 'control'],
    sending: ['campaign', 'control', 'outcomes'],
    enrollment: ['campaign', 'control', 'outcomes', 'sending'],
  },
};

const DOMAIN = {
  ...WINGS,
  ...Object.fromEntries(Object.entries(AREAS).map(([area, others]) => [area, [...Object.keys(WINGS), ...others]])),
};

/** Longer functions are cut where a name helps. */
const MAX_FUNCTION_LINES = 90;

const DATABASE_DRIVERS = { regex: '^(knex|objection|pg)(/|$)', message: 'Only db/ imports knex, pg and objection.' };
const RAW = [
  { group: ['**/db/raw.ts'], message: 'Only db/ opens a pool: use OrgScope, or across (db/across.ts) with a reason.' },
  {
    group: ['**/db/connection.ts'],
    importNames: ['connectRaw'],
    message: 'A pool that can be asked anything is for migrations, tests and measurements.',
  },
];
const WORDS_ONLY = {
  group: ['**/web/**', '!**/web/src/', '!**/web/src/text/', '!**/web/src/text/**'],
  message: 'Of web/ only src/text may be imported here: how what the API says in English is said in another language.',
};
const KOA = { regex: '^(koa|koa-.*|@koa/.*)(/|$)', message: 'Only api/ knows Koa.' };
const CONTRACTS_ONLY = {
  group: [
    '**/workflows/**',
    '!**/workflows/*/',
    '!**/workflows/*/contract.ts',
    '!**/workflows/contract.ts',
    '!**/workflows/queues.ts',
  ],
  message: 'Of workflows/ only contracts and the names of the queues may be imported here.',
};
const DISPATCH_ONLY = {
  group: ['**/temporal/**', '!**/temporal/dispatch.ts', '!**/temporal/dispatch/**'],
  message: 'Of temporal/ only dispatch may be imported here.',
};
const DETERMINISTIC = [
  {
    regex: '^@temporalio/common(/|$)',
    allowImportNames: ['defineSearchAttributeKey'],
    allowTypeImports: true,
    message: 'Of @temporalio/common only types and defineSearchAttributeKey may be imported here.',
  },
  {
    group: [
      '*',
      '!.',
      '!..',
      '!./**',
      '!../**',
      '!@temporalio',
      '@temporalio/*',
      '!@temporalio/workflow',
      '!@temporalio/common',
    ],
    message: 'workflows/ import only @temporalio/workflow: they must replay the same forever.',
  },
];

/** What a folder refuses beyond the folders that it may not import. */
const REFUSED = {
  lib: [DATABASE_DRIVERS, KOA],
  db: [KOA],
  workflows: DETERMINISTIC,
  temporal: [DATABASE_DRIVERS, ...RAW, KOA, CONTRACTS_ONLY],
  domain: [DATABASE_DRIVERS, ...RAW, KOA, CONTRACTS_ONLY, DISPATCH_ONLY],
  activities: [DATABASE_DRIVERS, ...RAW, KOA, CONTRACTS_ONLY],
  workers: [DATABASE_DRIVERS, ...RAW, KOA],
  api: [DATABASE_DRIVERS, ...RAW, CONTRACTS_ONLY, WORDS_ONLY],
  deploy: [DATABASE_DRIVERS, ...RAW],
  examples: [DATABASE_DRIVERS],
};

/** A refusal of all of `known` that are not in `allowed`, seen from `depth` folders below their parent. */
function refuse(known, allowed, depth, message) {
  const refused = known.filter((name) => !allowed.includes(name));
  const up = `${'\\.\\./'.repeat(depth)}`;
  return refused.length === 0 ? [] : [{ regex: `^${up}(${refused.join('|')})/`, message }];
}

function override(files, patterns) {
  return {
    files: [files],
    excludeFiles: ['**/*.test.ts'],
    rules: { 'no-restricted-imports': ['error', { patterns }] },
  };
}

/** Rules of a top-level folder. Its files lie at any depth, so any number of steps up may lead out of it. */
function houseRules(folder) {
  const allowed = HOUSE[folder];
  const refused = Object.keys(HOUSE).filter((name) => name !== folder && !allowed.includes(name));
  const message = `${folder}/ imports ${allowed.length === 0 ? 'nothing of ours' : allowed.join(', ')}.`;
  return [{ regex: `^(\\./|\\.\\./)*\\.\\./(${refused.join('|')})/`, message }, ...(REFUSED[folder] ?? [])];
}

/** Rules of one folder of domain/, and of the rooms in it. */
function domainRules(folder) {
  const allowed = [folder, ...DOMAIN[folder]];
  const message = `domain/${folder} imports ${DOMAIN[folder].join(', ') || 'no other folder'} of domain/ (see oxlint.config.mjs).`;
  const outward = (depth) => [...houseRules('domain'), ...refuse(Object.keys(DOMAIN), allowed, depth, message)];
  const rooms = ROOMS[folder] ?? {};
  const inner = Object.keys(rooms).filter((room) => room !== '.');
  const within = (room) => `domain/${folder}/${room} imports ${rooms[room].join(', ') || 'none of its neighbours'}.`;
  return [
    override(`domain/${folder}/*.ts`, [
      ...outward(1),
      ...(rooms['.']
        ? [{ regex: `^\\./(${inner.filter((room) => !rooms['.'].includes(room)).join('|')})/`, message: within('.') }]
        : []),
    ]),
    ...inner.map((room) =>
      override(`domain/${folder}/${room}/*.ts`, [
        ...outward(2),
        ...refuse(inner, [room, ...rooms[room]], 1, within(room)),
        ...(rooms[room].includes('.') ? [] : [{ regex: '^\\.\\./[^/]+$', message: within(room) }]),
      ]),
    ),
  ];
}

export default {
  plugins: ['typescript', 'unicorn', 'oxc', 'import'],
  categories: { correctness: 'error' },
  env: { node: true, es2024: true },
  ignorePatterns: [
    'dist/**',
    '.heron/**',
    'node_modules/**',
    'coverage/**',
    'client/src/schema.ts',
    'client/dist/**',
    'web/dist/**',
  ],
  rules: {
    eqeqeq: ['error', 'always', { null: 'ignore' }],
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'max-lines-per-function': ['error', { max: MAX_FUNCTION_LINES }],
    'no-console': 'error',
    'no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrorsIgnorePattern: '^_' }],
    'typescript/unbound-method': 'off',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/no-misused-spread': 'off',
    'typescript/require-array-sort-compare': 'off',
  },
  overrides: [
    {
      // A measurement, a test world and a released migration read better in one piece.
      files: ['**/*.test.ts', 'bench/**', 'db/migrations/**', 'test/**'],
      rules: { 'max-lines-per-function': 'off' },
    },
    { files: ['bench/**', 'deploy/**', 'examples/**', 'local/**', 'test/**'], rules: { 'no-console': 'off' } },
    {
      // Pages are drawn in one piece: what they show reads top to bottom.
      files: ['web/**/*.tsx'],
      plugins: ['typescript', 'unicorn', 'oxc', 'import', 'react', 'jsx-a11y'],
      rules: { 'max-lines-per-function': ['error', { max: 160 }], 'react/react-in-jsx-scope': 'off' },
    },
    ...Object.keys(HOUSE)
      .filter((folder) => HOUSE[folder] !== null)
      .map((folder) => override(`${folder}/**/*.{ts,tsx}`, houseRules(folder))),
    ...Object.keys(DOMAIN).flatMap(domainRules),
    // Its build runs in Node; the dashboard itself in a browser.
    override('web/src/**/*.{ts,tsx}', [
      ...houseRules('web'),
      { regex: '^(\\./|\\.\\./)*\\.\\./lib/', message: 'web/src imports client.' },
    ]),
  ],
};

export { AREAS, DOMAIN, HOUSE, ROOMS, WINGS };
