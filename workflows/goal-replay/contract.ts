import { defineWorkflow, type ArgsOf } from '../contract.ts';

/** Signals of a replay. A signal only wakes the workflow; the state is in PostgreSQL. */
export type GoalReplaySignals = {
  /** Continues a replay that failed repeatedly, after its last completed page. */
  retry: { cause: 'operator' | 'sweep' };
};

/** Replay of one goal over the product events of a period. */
export const goalReplayWorkflow = defineWorkflow<GoalReplaySignals>()({
  type: 'goalReplay',
  kind: 'goal-replay',
  parts: ['replayId'],
  summary: ({ replayId }) => `Replay ${replayId} of a goal`,
  cancel: 'Ends this run after its page; maintenance opens another one. `heron goal-replay cancel` ends the replay.',
});

/** Arguments of a replay. */
export type GoalReplayArgs = ArgsOf<typeof goalReplayWorkflow>;

/** Result of one page. `why` describes the progress of the replay, or the reason why it ended. */
export type ReplayReport = { kind: 'more' | 'done'; why: string };

/** Activities that the workflow calls. */
export interface GoalReplayActivities {
  /** Matches the next page of events against the definition, and stores the result and the progress. */
  replayPage(args: GoalReplayArgs): Promise<ReplayReport>;
}
