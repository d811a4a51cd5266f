import type { AnchorProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { useCan } from '../../app/person.ts';
import { PageLink } from '../../components/page-link.tsx';
import { toNumber, useText } from '../../text/index.ts';

/** Identifies a figure of a report: the report, the figure, and its filters. */
export type FigureOf = { of?: 'acquisition' | 'customers' | 'funnel' | 'trend'; figure: string } & Partial<
  Record<
    | 'from'
    | 'to'
    | 'campaign_id'
    | 'email_account_id'
    | 'provider'
    | 'window_days'
    | 'dimension'
    | 'key'
    | 'currency'
    | 'status'
    | 'match_method'
    | 'corrected'
    // For a funnel: its steps as in the URL, the number of one step (from 1), and a flag that selects the people lost
    // at that step.
    | 'steps'
    | 'step'
    | 'lost'
    // For a trend: the name of the event and its conditions as JSON.
    | 'name'
    | 'where',
    string
  >
>;

/**
 * Number with a link to the counted people. Plain text if it is zero or unknown, or the person may not see contacts.
 */
export function FigureLink({
  value,
  number,
  children,
  ...props
}: { value: number; number: FigureOf; children?: ReactNode } & AnchorProps) {
  const t = useText();
  const may = useCan('view_contacts');
  const shown = children ?? toNumber(value);
  if (value === 0 || !may) return <>{shown}</>;
  return (
    <PageLink
      to={`/reports/people?${new URLSearchParams(number as Record<string, string>)}`}
      inherit
      title={t('reports.behind')}
      {...props}
    >
      {shown}
    </PageLink>
  );
}
