import type { Columns, Row } from '../../../db/rows.ts';
import type { RunReport } from '../../../workflows/run/contract.ts';

export type RunRow = Row<'runs'>;
export type RunState = RunRow['state'];
/** An event of a run, as the run's API response contains it. */
export type RunEventRow = Columns<
  'run_events',
  'seq' | 'type' | 'state' | 'previous_state' | 'data' | 'actor_kind' | 'user_id' | 'created_at'
>;

export const RUN_STATES = [
  'queued',
  'preflighting',
  'awaiting_approval',
  'launching',
  'active',
  'paused',
  'completed',
  'failed',
  'denied',
  'cancelled',
] as const satisfies RunState[];

/** States before the launch, in which the run's workflow changes the state. */
export const PRELAUNCH_STATES = [
  'queued',
  'preflighting',
  'awaiting_approval',
  'launching',
] as const satisfies RunState[];
/** States after the launch. In these states, a run follows the state of its campaign. */
export const LAUNCHED_STATES = ['active', 'paused'] as const satisfies RunState[];
/** Final states of a run. */
const ENDED = ['completed', 'failed', 'denied', 'cancelled'] as const satisfies RunState[];

/** Returns true if a run is in a final state. */
export function hasEnded(state: RunState): boolean {
  return (ENDED as readonly RunState[]).includes(state);
}

/** Returns the fields of a run that its workflow needs. */
export function toReport({
  state,
  campaign_id: campaignId,
  expires_at: expiresAt,
  error_details: error,
}: RunRow): RunReport {
  const code = error?.code;
  return {
    state,
    campaignId,
    decideBy: state === 'awaiting_approval' ? expiresAt!.getTime() : null,
    why: hasEnded(state) && typeof code === 'string' ? code : null,
  };
}
