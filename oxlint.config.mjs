/**
 * The linter's rules, and the arrows of the house: which folder may import which. A folder that is not listed as
 * allowed is refused, so the imports cannot form a cycle. test/house.test.ts plants violations of all rules.
 */

/** Top-level folders, each with the ones that it may import. */
const HOUSE = {
  bundle: [],
  client: ['bundle'],
  messages: [],
  lib: ['messages'],
  db: ['lib', 'messages'],
  workflows: [],
  temporal: ['db', 'lib', 'workflows', 'messages'],
  domain: ['db', 'lib', 'temporal', 'workflows', 'messages'],
  activities: ['domain', 'lib', 'workflows', 'messages'],
  training: ['domain', 'lib', 'test', 'messages'],
  workers: ['activities', 'db', 'domain', 'lib', 'temporal', 'workflows', 'messages'],
  api: ['domain', 'lib', 'workflows', 'messages'],
  deploy: [
    'activities',
    'api',
    'bundle',
    'client',
    'db',
    'domain',
    'lib',
    'temporal',
    'web',
    'workers',
    'workflows',
    'messages',
  ],
  local: ['bundle', 'db', 'deploy', 'domain', 'lib', 'temporal', 'web', 'workflows', 'messages'],
  examples: [
    'client',
    'db',
    'deploy',
    'domain',
    'lib',
    'local',
    'temporal',
    'test',
    'web',
    'workers',
    'workflows',
    'messages',
  ],
  bench: [
    'activities',
    'bundle',
    'db',
    'deploy',
    'domain',
    'examples',
    'lib',
    'local',
    'training',
    'temporal',
    'test',
    'web',
    'workers',
    'workflows',
    'messages',
  ],
  test: null,
  web: ['client', 'lib', 'messages'],
};

/**
 * Rooms of domain/ and api/ from the lowest to the highest: each may import itself and the rooms above its line. So no
 * import leads to a higher room, and no import cycle spans two rooms. `npm run rooms` prints who imports whom.
 */
const ROOMS = [
  'mail',
  'platform',
  'directory',
  'sending',
  'approvals',
  'mailboxes',
  'billing',
  'inbox',
  'crm',
  'audience',
  'connect',
  'reporting',
  'campaigns',
  'identity',
  'operations',
];

/** Base folders of api/ without a counterpart in domain/, which every endpoint uses; they import no room of api/. */
const API_GROUND = ['http', 'pages'];
/** Folders of api/ that may import all rooms: tools for agents, and servers. */
const API_ROOF = ['agents', 'servers'];

/** Parts of a room with an order, each with the neighbours that it may import. `.` is the room's own folder. */
const PARTS = {
  mail: { '.': [], messages: ['.'], reading: ['.'], inbound: ['.', 'reading'] },
  sending: {
    campaign: [],
    senders: [],
    control: ['campaign', 'senders'],
    outcomes: ['campaign', 'senders', 'control'],
    '.': ['campaign', 'senders', 'control', 'outcomes'],
    enrollment: ['campaign', 'senders', 'control', 'outcomes', '.'],
    leads: ['campaign', 'senders', 'control', 'outcomes', '.', 'enrollment'],
  },
};

/** Maximum lines of a function. */
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

/** Imports that a folder refuses besides the folders that it may not import. */
const REFUSED = {
  lib: [DATABASE_DRIVERS, KOA],
  db: [KOA],
  workflows: DETERMINISTIC,
  temporal: [DATABASE_DRIVERS, ...RAW, KOA, CONTRACTS_ONLY],
  domain: [DATABASE_DRIVERS, ...RAW, KOA, CONTRACTS_ONLY, DISPATCH_ONLY],
  activities: [DATABASE_DRIVERS, ...RAW, KOA, CONTRACTS_ONLY],
  workers: [DATABASE_DRIVERS, ...RAW, KOA],
  api: [DATABASE_DRIVERS, ...RAW, CONTRACTS_ONLY],
  deploy: [DATABASE_DRIVERS, ...RAW],
  examples: [DATABASE_DRIVERS],
};

function override(files, patterns) {
  return {
    files: [files],
    excludeFiles: ['**/*.test.ts'],
    rules: { 'no-restricted-imports': ['error', { patterns }] },
  };
}

/** Rules of a top-level folder. Its files have any depth, so a path may leave it by any number of `../`. */
function houseRules(folder) {
  const allowed = HOUSE[folder];
  const refused = Object.keys(HOUSE).filter((name) => name !== folder && !allowed.includes(name));
  const message = `${folder}/ imports ${allowed.length === 0 ? 'nothing of ours' : allowed.join(', ')}.`;
  return [{ regex: `^(\\./|\\.\\./)*\\.\\./(${refused.join('|')})/`, message }, ...(REFUSED[folder] ?? [])];
}

/** Rooms that lie higher than `room`. */
const higher = (room) => ROOMS.slice(ROOMS.indexOf(room) + 1);

/** Refuses imports of `rooms` beside the own room, or below `folder`. */
function refuseRooms(rooms, message, folder = '') {
  return rooms.length === 0 ? [] : [{ regex: `^(\\.\\./)+${folder}(${rooms.join('|')})/`, message }];
}

/** Returns the rules of a room of domain/ and its parts, and of the room of api/ with the same name. */
function roomRules(room) {
  const message = `${room} imports rooms below it: ${ROOMS.slice(0, ROOMS.indexOf(room)).join(', ') || 'none'} (see oxlint.config.mjs).`;
  const domain = [...houseRules('domain'), ...refuseRooms(higher(room), message)];
  return [
    override(`domain/${room}/**/*.ts`, domain),
    ...partRules(room, domain),
    override(`api/${room}/**/*.ts`, [
      ...houseRules('api'),
      ...refuseRooms([...higher(room), ...API_ROOF], message),
      ...refuseRooms(higher(room), message, 'domain/'),
    ]),
  ];
}

/** Returns the rules of the ordered parts of a room. */
function partRules(room, rules) {
  const parts = PARTS[room] ?? {};
  const inner = Object.keys(parts).filter((part) => part !== '.');
  return Object.entries(parts).map(([part, allowed]) => {
    const message = `domain/${room}/${part} imports ${allowed.join(', ') || 'none of its neighbours'}.`;
    const refused = inner.filter((name) => name !== part && !allowed.includes(name));
    const up = part === '.' ? '\\./' : '\\.\\./';
    return override(`domain/${room}/${part === '.' ? '' : `${part}/`}*.ts`, [
      ...rules,
      ...(refused.length === 0 ? [] : [{ regex: `^${up}(${refused.join('|')})/`, message }]),
      ...(part === '.' || allowed.includes('.') ? [] : [{ regex: '^\\.\\./[^/]+$', message }]),
    ]);
  });
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
      // A measurement, a test world and a released migration are easier to read in one function.
      files: ['**/*.test.ts', 'bench/**', 'db/migrations/**', 'test/**'],
      rules: { 'max-lines-per-function': 'off' },
    },
    {
      files: ['bench/**', 'deploy/**', 'examples/**', 'local/**', 'training/**', 'test/**'],
      rules: { 'no-console': 'off' },
    },
    {
      // Pages are rendered by one function, which reads from top to bottom.
      files: ['web/**/*.tsx'],
      plugins: ['typescript', 'unicorn', 'oxc', 'import', 'react', 'jsx-a11y'],
      rules: { 'max-lines-per-function': ['error', { max: 160 }], 'react/react-in-jsx-scope': 'off' },
    },
    ...Object.keys(HOUSE)
      .filter((folder) => HOUSE[folder] !== null)
      .map((folder) => override(`${folder}/**/*.{ts,tsx}`, houseRules(folder))),
    ...ROOMS.flatMap(roomRules),
    ...API_GROUND.map((folder) =>
      override(`api/${folder}/**/*.ts`, [
        ...houseRules('api'),
        ...refuseRooms([...ROOMS, ...API_ROOF], `api/${folder} imports no room of api/.`),
      ]),
    ),
    override('client/src/**/*.ts', [
      { regex: '^\\.\\./', message: 'client/src is published: it imports nothing of ours.' },
    ]),
    // The dashboard's build runs in Node; the dashboard itself runs in a browser.
    override('web/src/**/*.{ts,tsx}', [
      ...houseRules('web'),
      { regex: '^(\\./|\\.\\./)*\\.\\./lib/', message: 'web/src imports client and messages.' },
    ]),
  ],
};

export { API_GROUND, API_ROOF, HOUSE, PARTS, ROOMS };
