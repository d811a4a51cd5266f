import { Group, Select, Stack } from '@mantine/core';
import IconPackage from 'tabler:package';
import { dataOf, heron } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { Facts } from '../../components/facts.tsx';
import { useFilter } from '../../components/filter.ts';
import { toMoneyOfMinor } from '../../components/money.ts';
import { isEmptyList, More, usePaged } from '../../components/paged.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { PageLink, PageLinkButton } from '../../components/page-link.tsx';
import { useText } from '../../text/index.ts';
import { CancelOrder, OrderMailboxes, OrderProgress, OrderState, STATUSES, type Order } from './order-card.tsx';
import { OrdersPage } from './orders-frame.tsx';

/** Page of orders of managed mailboxes with costs, progress and required actions. */
export default function OrderListPage() {
  const t = useText();
  const may = useCan('manage_settings');
  const [status, setStatus] = useFilter('status');
  const list = usePaged(['orders', 'list', status], (cursor, signal) =>
    dataOf(
      heron.GET('/v1/mailbox-provisioning', {
        params: { query: { limit: 20, ...(status ? { status: status as Order['status'] } : {}), ...cursor } },
        signal,
      }),
    ),
  );
  return (
    <OrdersPage>
      <Answered query={list} skeleton={<ListSkeleton rows={2} height={160} />}>
        {({ pages }) => {
          const rows = pages.flatMap(({ data }) => data);
          if (isEmptyList(list) && !status)
            return (
              <Empty
                icon={IconPackage}
                title={t('orders.none')}
                action={may ? <PageLinkButton to="/mailboxes/orders/new">{t('orders.new')}</PageLinkButton> : null}
              >
                {t('orders.none.why')}
              </Empty>
            );
          return (
            <Stack>
              <Select
                value={status || null}
                onChange={(value) => setStatus(value ?? '')}
                data={STATUSES.map((value) => ({ value, label: t(`orders.status.${value}`) }))}
                placeholder={t('orders.anyStatus')}
                aria-label={t('orders.anyStatus')}
                clearable
                w={220}
              />
              {rows.length === 0 ? t('nothingFound') : null}
              {rows.map((order) => (
                <OrderCard key={order.provisioning_id} order={order} />
              ))}
            </Stack>
          );
        }}
      </Answered>
      <More list={list} />
    </OrdersPage>
  );
}

function OrderCard({ order }: { order: Order }) {
  const t = useText();
  return (
    <Section title={order.domains.map(({ domain }) => domain).join(', ')} action={<OrderState order={order} />}>
      <Stack gap="sm">
        <OrderProgress order={order} />
        <Facts
          rows={[
            [t('orders.mailboxes'), <OrderMailboxes key="mailboxes" order={order} />],
            [t('orders.monthly'), toMoneyOfMinor(order.total_monthly_cents, order.currency.toUpperCase())],
            [t('orders.ordered'), <Ago key="at" at={order.created_at} />],
          ]}
        />
        <Group>
          <PageLink to={`/mailboxes/orders/${order.provisioning_id}`} size="sm">
            {t('orders.open')}
          </PageLink>
          <CancelOrder order={order} />
        </Group>
      </Stack>
    </Section>
  );
}
