import type { Address } from '../../components/page-link.tsx';
import type { ReactNode } from 'react';
import { useCan, usePerson } from '../../app/person.ts';
import { Page } from '../../components/page.tsx';
import { SubPages } from '../../components/sub-pages.tsx';
import { useText } from '../../text/index.ts';

/** Layout of this area's pages, with links to the pages that the person may see. */
export function OperatorPage({ actions, children }: { actions?: ReactNode; children: ReactNode }) {
  const t = useText();
  const { person } = usePerson();
  const [maySend, mayChange, mayRead] = [useCan('send_campaigns'), useCan('manage_settings'), useCan('view_analytics')];
  const pages: { to: Address; label: string; isShown: boolean }[] = [
    { to: '/operations', label: t('operator.health'), isShown: true },
    { to: '/operations/stuck', label: t('operator.stuck'), isShown: maySend },
    { to: '/operations/webhooks', label: t('operator.webhooks'), isShown: mayChange },
    { to: '/operations/audit', label: t('operator.audit'), isShown: mayRead },
    { to: '/operations/settings', label: t('operator.settings'), isShown: person.is_admin && mayChange },
  ];
  return (
    <Page title={t('nav.operator')} lead={t('operator.lead')} actions={actions}>
      <SubPages label={t('nav.operator')} pages={pages.filter(({ isShown }) => isShown)} />
      {children}
    </Page>
  );
}
