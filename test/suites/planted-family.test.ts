import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** Files that a new workflow family needs, as listed in CONTRIBUTING.md, and its lines in the two lists of families. */
const PLANTED: Record<string, string> = {
  'workflows/planted/contract.ts': `import { defineWorkflow, type ApprovalSignals, type ArgsOf } from '../contract.ts';

/** Signals of a planted run. */
export type PlantedSignals = ApprovalSignals & {
  /** A run that kept failing is to continue. */
  retry: { cause: 'operator' | 'sweep' };
};

/** A family that a test plants. */
export const plantedWorkflow = defineWorkflow<PlantedSignals>()({
  type: 'planted',
  kind: 'planted',
  parts: ['plantedId'],
  summary: ({ plantedId }) => \`Planted run \${plantedId}\`,
  cancel: 'Ends this run; maintenance opens another one.',
});

/** Arguments of a planted run. */
export type PlantedArgs = ArgsOf<typeof plantedWorkflow>;

/** Activities of this family, as the workflow sees them. */
export interface PlantedActivities {
  /** Does what is due. */
  plantedTurn(args: PlantedArgs): Promise<{ kind: 'done'; why: string }>;
}
`,
  'workflows/planted/workflow.ts': `import { defineSignal, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { listenForHints } from '../hints.ts';
import { resourceQueue } from '../queues.ts';
import { iterateUntilDone } from '../iterations.ts';
import { plantedWorkflow, type PlantedActivities, type PlantedArgs, type PlantedSignals } from './contract.ts';

const decided = defineSignal<[PlantedSignals['decided']]>('decided');
const retry = defineSignal<[PlantedSignals['retry']]>('retry');

/** Takes turns until the row has no error. */
export async function planted(args: PlantedArgs): Promise<string> {
  const { plantedTurn } = proxyActivities<PlantedActivities>({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'batch'),
    startToCloseTimeout: '1m',
    retry: { initialInterval: '100ms', maximumInterval: '200ms' },
  });
  return iterateUntilDone(plantedWorkflow, args, listenForHints(decided, retry), plantedTurn);
}
`,
  'activities/planted.ts': `import { plantedApproval, plantedTurn } from '../domain/audience/planted/turn.ts';
import { plantedWorkflow, type PlantedActivities } from '../workflows/planted/contract.ts';
import { callVerb } from './call-verb.ts';
import { family } from './family.ts';

/** A family that a test plants. */
export const planted = family<PlantedActivities>({
  contract: plantedWorkflow,
  queue: 'batch',
  activities: ({ deps }) => ({
    plantedTurn: (args) => callVerb(deps, args, (ctx) => plantedTurn(ctx, args.plantedId)),
  }),
  mustBeOpen: { table: 'contact_imports', open: \`status = 'completed' and filename = 'planted.csv'\` },
  blocked: { taskType: 'planted', isStamped: true },
  approval: plantedApproval,
});
`,
  'domain/audience/planted/turn.ts': `import type { ApprovalRow } from '../../../db/models/approval.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import type { ApprovalSubject } from '../../platform/kernel/tx.ts';

/** Something of the family that waits for a person. */
export const plantedApproval: ApprovalSubject<ApprovalRow> = {
  type: 'mailbox_order',
  lock: async (_tx, approval) => approval,
  content: async (_tx, { payload }) => payload,
  async execute(tx, { subject_id: id }) {
    await tx.org.table('contact_imports').where({ id }).update({ error: JSON.stringify('approved') });
  },
  refused: async () => {},
};

/**
 * Ends a planted run.
 * @throws Error while its row has an error
 */
export async function plantedTurn(ctx: Ctx, id: string): Promise<{ kind: 'done'; why: string }> {
  const row = await reader(ctx).table('contact_imports').where({ id }).first('error');
  if (row?.error) throw new Error('the row has an error');
  return { kind: 'done', why: 'planted' };
}
`,
};

/** Folders and files that a copy needs to be compiled, linted and run. */
const COPIED = (
  'activities api bundle client db deploy domain lib local messages temporal test web workers workflows ' +
  'package.json tsconfig.json oxlint.config.mjs'
).split(' ');

test('a family planted by the six files of CONTRIBUTING.md is served, reconciled, blocked, replayed, linked and carries out what was approved', async (t) => {
  t.timeout(300_000);
  const guide = await readFile(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
  const section = guide.slice(guide.indexOf('## Adding a workflow'), guide.indexOf('## Adding a subscriber'));
  const listed = [...section.matchAll(/^\d\. `([^`]+)`/gm)].map(([, path]) =>
    path!.replaceAll('<family>', 'planted').replace('<room>/<area>/<verb>', 'audience/planted/turn'),
  );
  t.deepEqual([...listed].sort(), [...Object.keys(PLANTED), 'activities/index.ts', 'workflows/index.ts'].sort());

  const copy = await mkdtemp(join(tmpdir(), 'heron-planted-'));
  t.teardown(() => rm(copy, { recursive: true, force: true }));
  const isOurs = (path: string) => !/\/(node_modules|dist|\.heron|histories)(\/|$)/.test(path.slice(ROOT.length - 1));
  for (const name of COPIED) await cp(join(ROOT, name), join(copy, name), { recursive: true, filter: isOurs });
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  for (const [path, text] of Object.entries(PLANTED)) {
    await mkdir(dirname(join(copy, path)), { recursive: true });
    await writeFile(join(copy, path), text);
  }
  await edit(copy, 'workflows/index.ts', (text) => `${text}export { planted } from './planted/workflow.ts';\n`);
  await edit(copy, 'activities/index.ts', (text) =>
    `import { planted } from './planted.ts';\n${text}`.replace(/\n\];/, '\n  planted,\n];'),
  );

  const linted = ['--deny-warnings', ...Object.keys(PLANTED), 'workflows/index.ts', 'activities/index.ts'];
  await run(join(ROOT, 'node_modules/.bin/oxlint'), ['-c', 'oxlint.config.mjs', ...linted], { cwd: copy });
  const { stdout } = await run(process.execPath, ['bundle/run.mjs', 'test/planted/probe.ts'], { cwd: copy });
  t.deepEqual(JSON.parse(stdout), {
    missing: 1,
    deadLetter: ['planted', true],
    replayed: 200,
    blockedReason: null,
    result: 'planted',
    link: true,
    approval: ['executed', 'approved'],
  });
});

async function edit(copy: string, path: string, change: (text: string) => string): Promise<void> {
  await writeFile(join(copy, path), change(await readFile(join(copy, path), 'utf8')));
}
