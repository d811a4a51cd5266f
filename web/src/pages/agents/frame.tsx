import type { Address } from '../../components/page-link.tsx';
import type { ReactNode } from 'react';
import { useCan } from '../../app/person.ts';
import { Page } from '../../components/page.tsx';
import { SubPages } from '../../components/sub-pages.tsx';
import { useText } from '../../text/index.ts';

/** Layout of this area's pages, with links to the pages that the person may see. */
export function AgentsPage({ actions, children }: { actions?: ReactNode; children: ReactNode }) {
  const t = useText();
  const [mayKeys, mayPolicies] = [useCan('manage_api_keys'), useCan('manage_settings')];
  const pages: { to: Address; label: string; isShown: boolean }[] = [
    { to: '/agents', label: t('agents.runs'), isShown: true },
    { to: '/agents/policies', label: t('agents.policies'), isShown: mayPolicies },
    { to: '/agents/keys', label: t('agents.keys'), isShown: mayKeys },
    { to: '/agents/applications', label: t('agents.applications'), isShown: mayKeys },
    { to: '/agents/events', label: t('agents.productEvents'), isShown: true },
    { to: '/agents/connect', label: t('agents.connect'), isShown: true },
  ];
  return (
    <Page title={t('nav.agents')} lead={t('agents.lead')} actions={actions}>
      <SubPages label={t('nav.agents')} pages={pages.filter(({ isShown }) => isShown)} />
      {children}
    </Page>
  );
}
