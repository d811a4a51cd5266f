import { Badge } from '@mantine/core';
import type { AnswerOf } from '../../app/api.ts';
import { useText } from '../../text/index.ts';

type State = AnswerOf<'/v1/runs/{id}'>['state'];
const COLORS: Record<State, string> = {
  queued: 'gray',
  preflighting: 'blue',
  awaiting_approval: 'yellow',
  launching: 'blue',
  active: 'teal',
  paused: 'gray',
  completed: 'teal',
  failed: 'red',
  denied: 'red',
  cancelled: 'gray',
};

export const RUN_STATES = Object.keys(COLORS) as State[];

/** Badge with the state of an agent's run. */
export function RunState({ state }: { state: State }) {
  const t = useText();
  return (
    <Badge variant="light" color={COLORS[state]} tt="none">
      {t(`agents.run.${state}`)}
    </Badge>
  );
}
