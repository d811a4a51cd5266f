import { Anchor, type AnchorProps } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useCan } from '../../app/person.ts';
import { toNumber, useText } from '../../text/index.ts';

/** Which number it is: of which report, which figure, and of what part. */
export type FigureOf = { of?: 'acquisition' | 'customers' | 'funnel'; figure: string } & Partial<
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
    // Of a funnel: its steps as its address has them, the number of one of them from 1, and whether it is who was lost there.
    | 'steps'
    | 'step'
    | 'lost',
    string
  >
>;

/** A number that opens the people behind it; nothing to open where it is none, or where the person may not see contacts. */
export function Behind({
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
    <Anchor
      component={Link}
      to={'/reports/people' as never}
      search={number as never}
      inherit
      title={t('reports.behind')}
      {...props}
    >
      {shown}
    </Anchor>
  );
}
