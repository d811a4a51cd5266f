import type { ReactNode } from 'react';
import { useCan } from '../../app/person.ts';
import { Page } from '../../components/page.tsx';
import { SubPages } from '../../components/sub-pages.tsx';
import { useText } from '../../text/index.ts';

const PAGES = [
  'overview',
  'deliverability',
  'campaigns',
  'attribution',
  'prospects',
  'goals',
  'funnels',
  'events',
] as const;

/** Layout of this area's pages with links between them. */
export function ReportPage({ actions, children }: { actions?: ReactNode; children: ReactNode }) {
  const t = useText();
  const maySeePeople = useCan('view_contacts');
  return (
    <Page title={t('nav.reports')} lead={t('reports.lead')} actions={actions}>
      <SubPages
        label={t('nav.reports')}
        pages={PAGES.filter((name) => name !== 'prospects' || maySeePeople).map((name) => ({
          to: name === 'overview' ? '/reports' : `/reports/${name}`,
          label: t(`reports.page.${name}`),
        }))}
      />
      {children}
    </Page>
  );
}
