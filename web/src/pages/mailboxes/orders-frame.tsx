import IconPlus from 'tabler:plus';
import type { ReactNode } from 'react';
import { useCan } from '../../app/person.ts';
import { Page } from '../../components/page.tsx';
import { SubPages } from '../../components/sub-pages.tsx';
import { PageLinkButton } from '../../components/page-link.tsx';
import { useText } from '../../text/index.ts';

/** Layout of the pages of orders and ordered domains, with links between them and to a new order. */
export function OrdersPage({ children }: { children: ReactNode }) {
  const t = useText();
  const may = useCan('manage_settings');
  return (
    <Page
      title={t('orders.title')}
      lead={t('orders.lead')}
      back={{ to: '/mailboxes', label: t('nav.mailboxes') }}
      actions={
        may ? (
          <PageLinkButton to="/mailboxes/orders/new" leftSection={<IconPlus size={16} />}>
            {t('orders.new')}
          </PageLinkButton>
        ) : null
      }
    >
      <SubPages
        label={t('orders.title')}
        pages={[
          { to: '/mailboxes/orders', label: t('orders.title') },
          { to: '/mailboxes/orders/domains', label: t('orders.domains') },
        ]}
      />
      {children}
    </Page>
  );
}
