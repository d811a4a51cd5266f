import { Page } from '../../components/page.tsx';
import { SubPages } from '../../components/sub-pages.tsx';
import { useText } from '../../text/index.ts';
import type { ReactNode } from 'react';

/** Layout of this area's pages with links between them. */
export function LeadsPage({ lead, actions, children }: { lead: string; actions?: ReactNode; children: ReactNode }) {
  const t = useText();
  return (
    <Page title={t('nav.leads')} lead={lead} actions={actions}>
      <SubPages
        label={t('leads.pages')}
        pages={[
          { to: '/leads', label: t('leads.contacts') },
          { to: '/leads/segments', label: t('leads.segments') },
          { to: '/leads/imports', label: t('leads.imports') },
          { to: '/leads/verification', label: t('leads.field.verification_status') },
          { to: '/leads/suppressions', label: t('leads.suppressions') },
          { to: '/leads/conflicts', label: t('leads.conflicts') },
          { to: '/leads/people', label: t('leads.people.without') },
          { to: '/leads/database', label: t('leads.database') },
          { to: '/leads/catalogue', label: t('leads.catalogue') },
        ]}
      />
      {children}
    </Page>
  );
}
