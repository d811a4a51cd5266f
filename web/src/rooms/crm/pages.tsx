import type { ReactNode } from 'react';
import { Page } from '../../parts/page.tsx';
import { SubPages } from '../../parts/sub-pages.tsx';
import { useText } from '../../text/index.ts';

/** Deals as a board or as a list, and tasks: one of these pages with the way to the others. */
export function CrmPage({
  title,
  lead,
  actions,
  children,
}: {
  /** What the page is called, unless it is one of deals. */
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
