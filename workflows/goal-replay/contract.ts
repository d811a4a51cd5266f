import { defineWorkflow, type ArgsOf } from '../contract.ts';

/** Signals of a replay. They are hints: the state is in PostgreSQL. */
export type GoalReplaySignals = {
  /** A replay that kept failing is to continue after its last page. */
  retry: { cause: 'operator' | 'sweep' };
};

/** A replay of one goal over the product events of a range. */
export const goalReplayWorkflow = defineWorkflow<GoalReplaySignals>()({
  type: 'goalReplay',
  kind: 'goal-replay',
  parts: ['replayId'],
  summary: ({ replayId }) => `Replay ${replayId} of a goal`,
  cancel: 'Ends this run after its page; maintenance opens another one. `heron goal-replay cancel` ends the replay.',
});

/** Arguments of a replay. */
export type GoalReplayArgs = ArgsOf<typeof goalReplayWorkflow>;

/** What became of a page, and how far the replay is or why it is over. */
export type ReplayTurn = { kind: 'more' | 'done'; why: string };

/** Activities of this family, as the workflow sees them. */
export interface GoalReplayActivities {
  /** Holds the next page of events against the definition, and stores what became of it and how far it is. */
  replayPage(args: GoalReplayArgs): Promise<ReplayTurn>;
}
