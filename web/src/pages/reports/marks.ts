import { useQuery } from '@tanstack/react-query';
import { dataOf, heron, type BodyOf } from '../../app/api.ts';
import { useText } from '../../text/index.ts';

type Step = BodyOf<'/v1/acquisition/funnels', 'post'>['steps'][number];

/** Maximum number of steps that the API accepts in a funnel. */
export const MOST = 8;
/** Default funnel: a sent email, then a positive reply. */
const FIRST = 'sent~reply';

/** Parses the steps of a funnel from the URL, as marks such as `sent`, `reply`, `goal:<id>` or `event:<name>`. */
export function readMarks(given: string | undefined): string[] {
  return (given || FIRST).split('~').slice(0, MOST);
}

/** Returns a function that maps a funnel step in the URL to its display name. */
export function useMarkNames(): (mark: string) => string {
  const t = useText();
  const goals = useQuery({ queryKey: ['goals'], queryFn: () => dataOf(heron.GET('/v1/goals')) });
  const named = new Map(goals.data?.data.map(({ id, name }) => [id, name]));
  return (mark) => {
    if (mark === 'sent') return t('funnels.sent');
    if (mark === 'reply') return t('funnels.reply');
    const [kind, value] = split(mark);
    return kind === 'goal' ? (named.get(value) ?? t('funnels.goal')) : value;
  };
}

/** Converts a funnel step from the URL to the API's form. */
export function toStep(mark: string): Step {
  if (mark === 'sent') return { kind: 'confirmed_send' };
  if (mark === 'reply') return { kind: 'positive_reply' };
  const [kind, value] = split(mark);
  return kind === 'goal' ? { kind: 'goal', goal_id: value } : { kind: 'event', event_name: value };
}

function split(mark: string): [kind: string, value: string] {
  const at = mark.indexOf(':');
  return [mark.slice(0, at), mark.slice(at + 1)];
}
