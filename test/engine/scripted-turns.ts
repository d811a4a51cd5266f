import { newId } from '../../lib/ids.ts';
import { BLOCKED } from '../../workflows/contract.ts';
import { enrollmentWorkflow } from '../../workflows/enrollment/contract.ts';
import { CHORES, maintenanceWorkflow } from '../../workflows/maintenance/contract.ts';
import { goalReplayWorkflow, type ReplayReport } from '../../workflows/goal-replay/contract.ts';
import { warmupWorkflow, type WarmupReport } from '../../workflows/warmup/contract.ts';
import { deletionWorkflow } from '../../workflows/deletion/contract.ts';
import { webhookVerifyWorkflow, type ChallengeStep } from '../../workflows/webhook-verify/contract.ts';
import { weeklyReportWorkflow } from '../../workflows/weekly-report/contract.ts';
import { workspaceExportWorkflow } from '../../workflows/workspace-export/contract.ts';
import { scripted, type Answer, type Scripted, type Sent } from './script.ts';

const organizationId = newId();
const GAVE_UP = 'EVENT_TYPE_ACTIVITY_TASK_FAILED';
const SHOWN = 'EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES';
const gaveUp: Answer['fails'] = { message: 'it kept failing', type: BLOCKED, nonRetryable: true };
const tried: Sent = { signal: 'retry', says: [{ cause: 'operator' }] };

const replaying = (gives: ReplayReport, more: Partial<Answer> = {}): Answer => ({
  activity: 'replayPage',
  gives,
  ...more,
});
const page: ReplayReport = { kind: 'more', why: '5000 events so far' };
const replays: Scripted[] = [
  replay('pages', [replaying(page), replaying(page), replaying({ kind: 'done', why: 'completed' })]),
  replay('goal-changed', [replaying(page), replaying({ kind: 'done', why: 'goal_changed' })]),
  replay(
    'blocked',
    [replaying(page), { activity: 'replayPage', fails: gaveUp }, replaying({ kind: 'done', why: 'completed' })],
    [{ ...tried, events: GAVE_UP, times: 1 }],
  ),
  {
    ...replay('continued', [
      ...Array.from({ length: 8 }, () => replaying(page)),
      replaying({ kind: 'done', why: 'completed' }),
    ]),
    continues: true,
  },
];

const warming = (more: Partial<Answer>): Answer => ({ activity: 'warmupTurn', ...more });
const warmups: Scripted[] = [
  scripted(
    warmupWorkflow,
    { organizationId, mailboxId: newId() },
    'warmup',
    'blocked-and-rested',
    [
      warming({ fails: gaveUp }),
      warming({ gives: { kind: 'wait', wakeAt: null, why: 'it is paused', state: 'resting' } satisfies WarmupReport }),
      warming({ gives: { kind: 'done', why: 'it is off' } satisfies WarmupReport }),
    ],
    [
      { ...tried, events: SHOWN, times: 1 },
      { signal: 'changed', says: [{ cause: 'stop' }], events: SHOWN, times: 2 },
    ],
  ),
];

/** A sweep that runs every chore. One of the chores fails without a retry. */
const sweeps: Scripted[] = [
  {
    ...scripted(
      maintenanceWorkflow,
      {},
      'maintenance',
      'chore-failed',
      Object.keys(CHORES).map((chore) => ({
        activity: 'doChore',
        ...(chore === 'settlePeople'
          ? { fails: { message: 'DatabaseError', type: 'DatabaseError', nonRetryable: true } }
          : { gives: { done: chore === 'sweepExpired' ? 12 : 0 } }),
      })),
    ),
    ends: 'FAILED',
  },
];

/** The campaign is deleted while the contact's workflow is blocked. */
const cancelled: Scripted[] = [
  {
    ...scripted(
      enrollmentWorkflow,
      { organizationId, campaignId: newId(), contactId: newId() },
      'enrollment',
      'cancelled-while-blocked',
      [
        {
          activity: 'advanceEnrollment',
          gives: { kind: 'send', sendId: newId(), mailboxId: newId(), where: 'Opening', step: 'Opening' },
        },
        { activity: 'deliverSend', fails: gaveUp },
      ],
      [{ cancels: true, events: SHOWN, times: 1 }],
    ),
    ends: 'CANCELLED',
  },
];

/** Weekly reports. */
const reported: Answer = { activity: 'mailWeeklyReport', gives: { kind: 'done', why: 'mailed 3' } };
const weeklyReports: Scripted[] = [
  weeklyReport('mailed', [reported]),
  weeklyReport('retried-at-the-end', [{ ...reported, meanwhile: tried }, reported]),
  weeklyReport(
    'blocked',
    [{ activity: 'mailWeeklyReport', fails: gaveUp }, reported],
    [{ ...tried, events: GAVE_UP, times: 1 }],
  ),
];

const exported: Answer = { activity: 'makeWorkspaceExport', gives: { kind: 'done', why: 'written and mailed' } };
const workspaceExports: Scripted[] = [
  workspaceExport('written', [exported]),
  workspaceExport(
    'blocked',
    [{ activity: 'makeWorkspaceExport', fails: gaveUp }, exported],
    [{ ...tried, events: GAVE_UP, times: 1 }],
  ),
];

const called = { signal: 'changed', says: [{ cause: 'called_back' }] };
const untilTheDate: Answer = {
  activity: 'advanceDeletion',
  gives: { kind: 'wait', wakeAt: Date.parse('2100-01-01'), why: 'the date of the deletion' },
};
const erasing: Answer = { activity: 'advanceDeletion', gives: { kind: 'more', why: 'erasing the workspace' } };
const ofDeletion = (why: string): Answer => ({ activity: 'advanceDeletion', gives: { kind: 'done', why } });
const deletions: Scripted[] = [
  deletion('called-back', [untilTheDate, ofDeletion('called back')], [{ ...called, events: GAVE_UP, times: 1 }]),
  deletion('called-back-while-asked', [{ ...untilTheDate, meanwhile: called }, ofDeletion('called back')]),
  deletion('erased', [
    erasing,
    erasing,
    { activity: 'advanceDeletion', gives: { kind: 'more' } },
    ofDeletion('erased'),
  ]),
];

const challenged = (gives: ChallengeStep): Answer => ({ activity: 'challengeEndpoint', gives });
const noEcho: ChallengeStep = { over: false, retryInMs: 3_000 };
const armedAnew = (): Sent => ({ signal: 'armed', says: [{ applicationId: newId() }] });

const verifications: Scripted[] = [
  verification(
    'blocked',
    [
      challenged(noEcho),
      { activity: 'challengeEndpoint', fails: gaveUp },
      challenged(noEcho),
      { activity: 'challengeEndpoint', fails: gaveUp },
      challenged({ over: true, state: 'verified' }),
    ],
    [
      { ...tried, events: GAVE_UP, times: 1 },
      { ...armedAnew(), events: GAVE_UP, times: 2 },
    ],
  ),
];

export const TURNS: Scripted[] = [
  ...verifications,
  ...deletions,
  ...weeklyReports,
  ...workspaceExports,
  ...replays,
  ...warmups,
  ...sweeps,
  ...cancelled,
];

function replay(name: string, answers: Answer[], later: Scripted['later'] = []): Scripted {
  return scripted(goalReplayWorkflow, { organizationId, replayId: newId() }, 'goal-replay', name, answers, later);
}

function deletion(name: string, answers: Answer[], later: Scripted['later'] = []): Scripted {
  return scripted(deletionWorkflow, { deletionId: newId() }, 'deletion', name, answers, later);
}

function weeklyReport(name: string, answers: Answer[], later: Scripted['later'] = []): Scripted {
  return scripted(weeklyReportWorkflow, { organizationId, reportId: newId() }, 'weekly-report', name, answers, later);
}

function workspaceExport(name: string, answers: Answer[], later: Scripted['later'] = []): Scripted {
  const args = { organizationId, exportId: newId() };
  return scripted(workspaceExportWorkflow, args, 'workspace-export', name, answers, later);
}

function verification(name: string, answers: Answer[], later: Scripted['later'] = []): Scripted {
  const args = { organizationId, endpointId: newId() };
  return scripted(webhookVerifyWorkflow, args, 'webhook-verify', name, answers, later);
}
