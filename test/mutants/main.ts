/**
 * `node bundle/run.mjs test/mutants/main.ts`: breaks the current workflow bundle in one place at a time and replays
 * every recorded history with it. Prints as a Markdown table which recording detects each change. If none detects the
 * change, it is either equivalent, or on a path that no recording covers. `-- 'approval mail'` runs only the changes
 * whose name begins with that text. Not part of `npm test`.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { historyFromJSON, type History } from '@temporalio/common/lib/proto-utils.js';
import { silentLogger } from '../../lib/log.ts';
import { workflowBundle } from '../../workers/bundle.ts';
import { installRuntime } from '../../workers/runtime.ts';

/** Name of each change, the text of the compiled bundle that it replaces, and the replacement. */
const MUTANTS: [what: string, from: string, to: string][] = [
  ['sweep: a chore is renamed', '.doChore({', '.sweepExpired({'],
  ['sweep: ends at a chore that failed', 'failed.push(chore);', 'break;'],
  ['sweep: a chore that failed is forgotten', 'failed.push(chore);', ''],
  ['enrollment: decides without asking', 'activities.advanceEnrollment(args)', "({ kind: 'done', outcome: 'x' })"],
  ['question: asked by a normal activity', 'await question(local)', 'await question(patient)'],
  ['question: not asked patiently', 'await question(patient)', 'await question(local)'],
  ['slot: not waited for', 'waitUntil)(at,', 'waitUntil)(0,'],
  ['clock: a time that is over is not waited for', 'isBehind ? Date.now() + SLOW_CLOCK_MS : until', 'until'],
  ['slot: no look at hints after it', 'if (!sequence.hints.any()) await send', 'await send'],
  ['enrollment: an event is not waited for', "case 'waitForEvent':", "case 'neverWaitForEvent':"],
  ['enrollment: a hold is not waited out', "case 'hold':", "case 'neverHold':"],
  ['enrollment: the app is not called', "case 'call':", "case 'neverCall':"],
  [
    'enrollment: a hint after the end is ignored',
    'if (!hints.any()) return decision.outcome;',
    'return decision.outcome;',
  ],
  ['blocked: is an end', 'if (isBlocked(error)) return error.cause.message;', ''],
  ['wait: hints before the wait are ignored', 'if (interrupted()) return;', ''],
  ['wait: without a bound', 'if (until === null) return', 'return'],
  ['wait: the timer is not cancelled', 'scope.cancel();', ''],
  ['wait: hints do not interrupt', '.condition)(interrupted) ])', '.condition)(() => false)])'],
  ['direct send: decides without asking', 'activities.advanceDirectSend(args)', "({ kind: 'done', outcome: 'x' })"],
  [
    'direct send: a hint after the end is ignored',
    'if (!hints.any()) return decision.outcome;',
    'return decision.outcome;',
  ],
  ['automation: decides without asking', 'activities.advanceAutomation(args)', "({ kind: 'done', outcome: 'x' })"],
  [
    'automation: does not wait',
    'waitUntilWorkerTime)(decision.until, hints.any, decision.where)',
    'waitUntil)(0, hints.any, decision.where)',
  ],
  [
    'blocked work: is not waited out',
    'waitUntil)(null, hints.any, blocked.where)',
    'waitUntil)(0, hints.any, blocked.where)',
  ],
  ['blocked work: is an end', 'show(blocked); await', 'return; await'],
  ['blocked work: is not shown', 'show(blocked); await (0,_interruptible', 'await (0,_interruptible'],
  [
    'integration delivery: activity renamed',
    '(more, retry), deliverToProvider)',
    "(more, retry), () => deliverToProvider(args).then(() => ({ kind: 'more' })))",
  ],
  [
    'integration delivery: no turn is taken',
    '(more, retry), deliverToProvider)',
    "(more, retry), async () => ({ kind: 'done', why: 'x' }))",
  ],
  ['deliver: activity renamed', 'return deliverSend(args)', 'return callApp(args)'],
  ['direct send: a blocked one does not wait', "case 'blocked':", "case 'neverBlocked':"],
  ['State: is not shown', 'shown.state !== state', 'false'],
  ['Deadline: is not shown', "shown.state === 'awaiting_approval' &&", 'false &&'],
  ['CampaignId: is not shown', 'shown.campaignId && ', 'false && '],
  ['a long run: does not continue as new', '.continueAsNew)(args)', '.condition)(()=>true)'],
  ['test run: decides without asking', 'activities.advanceTestRun(args)', "({ kind: 'done', outcome: 'x' })"],
  ['delivery: settles without another attempt when hurried', 'if (!hurried) return why;', 'return why;'],
  ['delivery: hurry does not cancel', 'attempts === null || attempts === void 0 ? void 0 : attempts.cancel();', ''],
  ['delivery: activity renamed', 'return deliverWebhook(args)', 'return attemptDelivery(args)'],
  ['goal replay: no page is asked for', ', replayPage)', ", async () => ({ kind: 'done', why: 'x' }))"],
  ['turns: go on after the end', "turn.kind === 'done' &&", 'false &&'],
  ['delivery: a blocked one does not wait', '.condition)(()=>hurried)', '.condition)(()=>true)'],
  ['batches: more at the end of a turn is ignored', 'if (turn.more) again = true;', ''],
  ['batches: more during a turn is ignored', '(more, ()=>{ again = true; })', '(more, () => {})'],
  ['turns: a hint during the last one is ignored', "turn.kind === 'done' && !hints.any()", "turn.kind === 'done'"],
  ['turns: no wait between them', "turn.kind === 'wait'", "turn.kind === 'never'"],
  ['warmup: no turn is taken', ', warmupTurn)', ", async () => ({ kind: 'done', why: 'x' }))"],
  ['import: a failure is not recorded', 'await abandonImport(', 'void (async () => {})('],
  ['launcher: every turn is a first look', 'looks-- > 0', 'looks > 0'],
  ['launcher: a failed look is not taken up', '.catch(()=>runLauncher(turn))', ''],
  ['run: is not checked', "case 'preflighting':", "case 'neverChecked':"],
  ['run: does not wait for a decision', "case 'awaiting_approval':", "case 'neverAwaited':"],
  ['run: is not launched', "case 'launching':", "case 'neverLaunched':"],
  ['run: asks without a pause when the time is over', 'Date.now() + ASK_AGAIN_MS', '0'],
  ['run: activity advanceRun renamed', 'activities.advanceRun(args)', 'activities.launchRun(args)'],
  [
    'approval mail: activity renamed',
    '(retry), mailApprovers)',
    '(retry), () => mailApprovers(args).then(() => ({ kind: "more" })))',
  ],
  [
    'weekly report: activity renamed',
    '(retry), mailWeeklyReport)',
    '(retry), () => mailWeeklyReport(args).then(() => ({ kind: "more" })))',
  ],
  ['renewal: no wait', 'waitUntil)(turn.until, hints.any', 'waitUntil)(0, hints.any'],
  [
    'renewal: a blocked one does not wait',
    'waitUntil)(null, hints.any, turn.where)',
    'waitUntil)(0, hints.any, turn.where)',
  ],
  ['renewal: a hint at the end is ignored', 'if (!hints.any()) return turn.outcome;', 'return turn.outcome;'],
  ['renewal: the next cycle is not another run', "if (turn.kind === 'renewed')", 'if (false)'],
  [
    'order: decides without asking',
    'activities.advanceMailboxOrder(args)',
    "({ kind: 'done', state: 'x', where: 'x' })",
  ],
  ['order: the checkout is not made', 'return await openCheckout(args)', 'return'],
  ['order: the checkout is not closed', 'return await closeCheckout(args)', 'return'],
  ['order: a step is not done', 'await performOrderStep(_object', 'await ((_args) => undefined)(_object'],
  ['order: a step is not undone', 'await undoOrderStep(_object', 'await ((_args) => undefined)(_object'],
  ['order: undone by the wrong activity', 'await undoOrderStep(_object', 'await performOrderStep(_object'],
  ['order: a cancellation at the end is ignored', 'if (!hints.any()) return decision.state;', 'return decision.state;'],
  ['order: the payment is not waited for', 'waitUntilWorkerTime)(decision.until, hints.any', 'waitUntil)(0, hints.any'],
  ['order: State is not shown', 'state !== shown) (0,', "state === 'x') (0,"],
  [
    'refund: activity renamed',
    '(changed, retry), refundTurn)',
    '(changed, retry), () => refundTurn(args).then(() => ({ kind: "more" })))',
  ],
  [
    'goal replay: activity renamed',
    '(retry), replayPage,',
    '(retry), () => replayPage(args).then(() => ({ kind: "more" })),',
  ],
  ['verify: does not wait between challenges', 'if (step.over)', 'if (true)'],
  [
    'verify: a blocked one does not wait',
    '.condition)(()=>arms !== seen || retries !== retried)',
    '.condition)(()=>true)',
  ],
];

/**
 * Converts a text to a pattern in which a space matches any or no white space, because the compiler places line breaks
 * differently.
 */
function anySpace(text: string): RegExp {
  return new RegExp(text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`).replaceAll(' ', String.raw`\s*`), 'g');
}

const WORKFLOWS = new URL('../../workflows/', import.meta.url);
const recordings: { workflowId: string; history: History }[] = [];
for (const { name } of readdirSync(WORKFLOWS, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
  const folder = new URL(`${name}/histories/`, WORKFLOWS);
  for (const file of existsSync(folder) ? readdirSync(folder) : [])
    recordings.push({
      workflowId: `${name}/${file.replace('.json', '')}`,
      history: historyFromJSON(JSON.parse(readFileSync(new URL(file, folder), 'utf8'))),
    });
}

await installRuntime(silentLogger);
const code = readFileSync((await workflowBundle(silentLogger)).codePath, 'utf8');
const folder = await mkdtemp(join(tmpdir(), 'heron-mutants-'));
const [beginning = ''] = process.argv.slice(2);
const chosen = MUTANTS.filter(([what]) => what.startsWith(beginning));
const lines = ['| edit | noticed by |', '|---|---|'];
let survived = 0;
try {
  for (const [index, [what, from, to]] of chosen.entries()) {
    const text = anySpace(from);
    if (!text.test(code)) {
      lines.push(`| ${what} | (the bundle has no such text) |`);
      continue;
    }
    const codePath = join(folder, `${index}.js`);
    await writeFile(
      codePath,
      code.replaceAll(text, () => to),
    );
    const noticed: string[] = [];
    const results = Worker.runReplayHistories({ workflowBundle: { codePath } }, recordings);
    for await (const { workflowId, error } of results) if (error) noticed.push(workflowId);
    if (noticed.length === 0) survived += 1;
    const row = `| ${what} | ${noticed.join(', ') || '**none**'} |`;
    lines.push(row);
    process.stderr.write(`${row}\n`);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
process.stdout.write(`${lines.join('\n')}\n\n${survived} of ${chosen.length} survived\n`);
