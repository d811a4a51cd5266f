import { Alert, Anchor, Badge, Group, Progress, Stack, Text } from '@mantine/core';
import IconPackage from '@tabler/icons-react/dist/esm/icons/IconPackage.mjs';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAct } from '../../parts/act.ts';
import { ConfirmButton } from '../../parts/confirm.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Page } from '../../parts/page.tsx';
import { More, usePaged } from '../../parts/paged.tsx';
import { Section } from '../../parts/section.tsx';
import { Answered, Empty, ListSkeleton } from '../../parts/states.tsx';
import { Ago } from '../../parts/time.tsx';
import { toNumber, useText } from '../../text/index.ts';

type Order = RowOf<'/v1/mailbox-provisioning'>;
const COLORS: Record<Order['status'], string> = {
  awaiting_payment: 'yellow',
  paid: 'blue',
  queued: 'blue',
  provisioning: 'blue',
  configuring: 'blue',
  ready: 'teal',
  failed: 'red',
  cancelled: 'gray',
};
const OPEN = new Set<Order['status']>(['awaiting_payment', 'paid', 'queued', 'provisioning', 'configuring', 'ready']);

/** Orders of managed mailboxes: what each costs, how far it is, and what it needs from a person. */
export default function OrdersPage() {
  const t = useText();
  const list = usePaged(['orders'], (cursor, signal) =>
    dataOf(heron.GET('/v1/mailbox-provisioning', { params: { query: { limit: 20, ...cursor } }, signal })),
  );
  return (
    <Page title={t('orders.title')} lead={t('orders.lead')} back={{ to: '/mailboxes', label: t('nav.mailboxes') }}>
      <Answered query={list} skeleton={<ListSkeleton rows={2} height={160} />}>
        {({ pages }) => {
          const rows = pages.flatMap(({ data }) => data);
          if (rows.length === 0)
            return (
              <Empty icon={IconPackage} title={t('orders.none')}>
                {t('orders.none.why')}
              </Empty>
            );
          return (
            <Stack>
              {rows.map((order) => (
                <OrderCard key={order.provisioning_id} order={order} />
              ))}
            </Stack>
          );
        }}
      </Answered>
      <More list={list} />
    </Page>
  );
}

function OrderCard({ order }: { order: Order }) {
  const t = useText();
  const may = useCan('manage_settings');
  const cancel = useAct(
    () =>
      dataOf(heron.POST('/v1/mailbox-provisioning/{id}/cancel', { params: { path: { id: order.provisioning_id } } })),
    { stale: [['orders'], ['mailboxes']], isShown: true },
  );
  const money = (cents: number) => toNumber(cents / 100, { style: 'currency', currency: order.currency });
  const done = order.steps.filter((step) => step.done).length;
  const current = order.steps.find((step) => !step.done);
  return (
    <Section
      title={order.domain}
      action={
        <Badge variant="light" color={COLORS[order.status]} tt="none">
          {t(`orders.status.${order.status}`)}
        </Badge>
      }
    >
      <Stack gap="sm">
        {order.error ? (
          <Alert color="red" variant="light" title={order.error.message} role="note">
            {order.error.fix}
          </Alert>
        ) : null}
        {order.checkout_url && order.status === 'awaiting_payment' ? (
          <Alert color="blue" variant="light" role="note">
            <Anchor href={order.checkout_url} size="sm">
              {t('orders.pay', { amount: money(order.total_due_today_cents) })}
            </Anchor>
          </Alert>
        ) : null}
        {order.steps.length > 0 ? (
          <div>
            <Progress value={(done / order.steps.length) * 100} aria-label={t('orders.progress')} />
            <Text size="xs" c="dimmed" mt={4}>
              {t('orders.steps', { done, all: order.steps.length })}
              {current?.detail ? ` · ${current.detail}` : ''}
            </Text>
          </div>
        ) : null}
        <Facts
          rows={[
            [t('orders.mailboxes'), order.mailboxes.map(({ email }) => email).join(', ') || order.mailboxes_requested],
            [t('orders.monthly'), money(order.total_monthly_cents)],
            [t('orders.ordered'), <Ago key="at" at={order.created_at} />],
            [t('orders.blocked'), order.blocked_reason],
          ]}
        />
        {may && OPEN.has(order.status) ? (
          <Group>
            <ConfirmButton size="xs" act={cancel} label={t('orders.cancel')} title={t('orders.cancel.ask')}>
              {t('orders.cancel.why')}
            </ConfirmButton>
          </Group>
        ) : null}
      </Stack>
    </Section>
  );
}
