import type { ReactNode } from 'react';
import { Page } from '../../components/page.tsx';
import { SubPages } from '../../components/sub-pages.tsx';
import { useText } from '../../text/index.ts';

/** Layout of the CRM pages (board, list, tasks) with links between them. */
export function CrmPage({
  title,
  lead,
  actions,
  children,
}: {
  /** Title of the page. Defaults to the title of the deals. */
  title?: string;
  lead: string;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const t = useText();
  return (
    <Page title={title ?? t('nav.crm')} lead={lead} actions={actions}>
      <SubPages
        label={t('crm.pages')}
        pages={[
          { to: '/crm', label: t('crm.board') },
          { to: '/crm/list', label: t('crm.list') },
          { to: '/tasks', label: t('nav.tasks') },
        ]}
      />
      {children}
    </Page>
  );
}
