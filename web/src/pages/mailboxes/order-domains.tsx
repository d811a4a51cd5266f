import { Alert, Anchor, Badge, Stack, Text } from '@mantine/core';
import IconWorld from 'tabler:world';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import { Facts } from '../../components/facts.tsx';
import { toMoneyOfMinor } from '../../components/money.ts';
import { More, usePaged } from '../../components/paged.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { Ago, toDateTime } from '../../components/time.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { useText } from '../../text/index.ts';
import { OrdersPage } from './orders-frame.tsx';

type Renewal = RowOf<'/v1/mailboxes/domains/renewals'>;
const COLORS: Record<Renewal['state'], string> = {
  scheduled: 'teal',
  charging: 'blue',
  renewing: 'blue',
  requires_action: 'red',
  renewed: 'teal',
  lapsed: 'red',
};

/** Page of ordered domains with renewal date, price and required actions. */
export default function OrderDomainsPage() {
  const t = useText();
  const list = usePaged(['orders', 'renewals'], (cursor, signal) =>
    dataOf(heron.GET('/v1/mailboxes/domains/renewals', { params: { query: { limit: 50, ...cursor } }, signal })),
  );
  return (
    <OrdersPage>
      <Answered query={list} skeleton={<ListSkeleton rows={2} height={140} />}>
        {({ pages }) => {
          const rows = pages.flatMap(({ data }) => data);
          return rows.length === 0 ? (
            <Empty icon={IconWorld} title={t('renewals.none')}>
              {t('renewals.none.why')}
            </Empty>
          ) : (
            <Stack>
              {rows.map((renewal) => (
                <RenewalCard key={renewal.domain_id} renewal={renewal} />
              ))}
            </Stack>
          );
        }}
      </Answered>
      <More list={list} />
    </OrdersPage>
  );
}

function RenewalCard({ renewal }: { renewal: Renewal }) {
  const t = useText();
  const money = (cents: number | null) =>
    cents === null || renewal.currency === null ? null : toMoneyOfMinor(cents, renewal.currency.toUpperCase());
  const amount = money(renewal.amount_cents);
  return (
    <Section
      title={renewal.domain}
      action={
        <Badge variant="light" color={COLORS[renewal.state]} tt="none">
          {t(`renewals.state.${renewal.state}`)}
        </Badge>
      }
    >
      <Stack gap="sm">
        {renewal.error ? (
          <Alert color="red" variant="light" title={renewal.error.message} role="note">
            {renewal.error.fix}
          </Alert>
        ) : null}
        {renewal.checkout_url ? (
          <Anchor href={renewal.checkout_url} size="sm" fw={600}>
            {amount ? t('orders.pay', { amount }) : t('renewals.pay')}
          </Anchor>
        ) : null}
        <Text size="sm">{t(`renewals.next.${renewal.state}`)}</Text>
        <Facts
          rows={[
            [t('renewals.renews'), toDateTime(renewal.renews_at)],
            [t('renewals.ends'), toDateTime(renewal.expires_at)],
            [t('renewals.cost'), money(renewal.cost_cents)],
            [t('renewals.processing'), money(renewal.processing_cents)],
            [t('renewals.amount'), amount],
            [t('renewals.charged'), renewal.charged_at ? <Ago at={renewal.charged_at} /> : null],
            [t('renewals.last'), renewal.last_renewed_at ? <Ago at={renewal.last_renewed_at} /> : null],
            [t('orders.blocked'), renewal.blocked_reason],
            [
              t('orders.one'),
              <PageLink key="order" to={`/mailboxes/orders/${renewal.provisioning_id}`} size="sm">
                {t('orders.open')}
              </PageLink>,
            ],
          ]}
        />
      </Stack>
    </Section>
  );
}
