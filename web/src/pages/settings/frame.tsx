import type { ReactNode } from 'react';
import { useCan, usePerson } from '../../app/person.ts';
import { Page } from '../../components/page.tsx';
import type { Address } from '../../components/page-link.tsx';
import { SubPages } from '../../components/sub-pages.tsx';
import { useText } from '../../text/index.ts';

/** Layout of this area's pages, with links to the pages that the person may see. */
export function SettingsPage({ actions, children }: { actions?: ReactNode; children: ReactNode }) {
  const t = useText();
  const isMember = usePerson().workspace !== undefined;
  const mayChange = useCan('manage_settings');
  const mayTeam = useCan('manage_team');
  const [maySee, mayContacts, mayRead] = [useCan('view_campaigns'), useCan('view_contacts'), useCan('view_analytics')];
  const pages: { to: Address; label: string; isShown: boolean }[] = [
    { to: '/settings', label: t('settings.profile'), isShown: true },
    { to: '/settings/workspace', label: t('settings.workspace'), isShown: true },
    { to: '/settings/members', label: t('settings.members'), isShown: isMember },
    { to: '/settings/roles', label: t('settings.roles'), isShown: mayTeam },
    { to: '/settings/teams', label: t('settings.teams'), isShown: mayContacts },
    { to: '/settings/labels', label: t('settings.labels'), isShown: maySee || mayContacts },
    { to: '/settings/templates', label: t('settings.templates'), isShown: maySee },
    { to: '/settings/outreach', label: t('settings.outreach'), isShown: mayChange },
    { to: '/settings/domains', label: t('settings.domains'), isShown: maySee },
    { to: '/settings/apps', label: t('settings.apps'), isShown: mayChange },
    { to: '/settings/usage', label: t('settings.usage'), isShown: mayRead },
  ];
  return (
    <Page title={t('nav.settings')} lead={t('settings.lead')} actions={actions}>
      <SubPages label={t('nav.settings')} pages={pages.filter(({ isShown }) => isShown)} />
      {children}
    </Page>
  );
}
