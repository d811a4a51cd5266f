import { Anchor, Badge, Group, List, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { dataOf, heron } from '../../app/api.ts';
import { Facts } from '../../components/facts.tsx';
import { Page } from '../../components/page.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { textOf, useText } from '../../text/index.ts';
import { LineItems } from './line-items.tsx';
import {
  CancelOrder,
  refetchIntervalMs,
  OrderMailboxes,
  orderMoments,
  OrderProgress,
  OrderState,
  stepName,
  type Order,
} from './order-card.tsx';

const STEP_COLORS: Record<Order['steps'][number]['status'], string> = {
  pending: 'gray',
  running: 'blue',
  done: 'teal',
  compensating: 'yellow',
  compensated: 'gray',
  failed: 'red',
  needs_person: 'red',
};

/** Page of one order: its state, costs, steps and mailboxes. */
export default function OrderPage() {
  const t = useText();
  const { id } = useParams({ from: '/mailboxes/orders/$id' });
  const query = useQuery({
    queryKey: ['orders', id],
    queryFn: () => dataOf(heron.GET('/v1/mailbox-provisioning/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state }) => (state.data ? refetchIntervalMs([state.data]) : false),
  });
  return (
    <Page
      title={query.data?.domain ?? t('orders.one')}
      lead={query.data ? <OrderState order={query.data} /> : null}
      back={{ to: '/mailboxes/orders', label: t('orders.title') }}
      actions={query.data ? <CancelOrder order={query.data} /> : null}
    >
      <Answered query={query} skeleton={<ListSkeleton rows={3} height={130} />}>
        {(order) => (
          <>
            <Stack gap="sm">
              <OrderProgress order={order} />
            </Stack>
            <Section title={t('orders.costs')}>
              <LineItems priced={order} isOrdered />
            </Section>
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              <Section title={t('orders.mailboxes')}>
                <OrderMailboxes order={order} />
              </Section>
              <Section title={t('orders.about')}>
                <Facts
                  rows={[
                    [t('orders.provider'), textOf('orders.provider', order.provider)],
                    [t('orders.domains'), order.domains.map(({ domain }) => domain).join(', ')],
                    [t('orders.warmup'), t(order.warmup ? 'orders.warmup.with' : 'orders.warmup.without')],
                    [t('orders.payment'), order.payment_status && textOf('orders.payment', order.payment_status)],
                    ...orderMoments(order).map(([key, at]) => [t(`orders.${key}`), at] as const),
                    [
                      t('orders.run'),
                      order.temporal_url ? (
                        <Anchor href={order.temporal_url} size="sm" target="_blank" rel="noreferrer">
                          {t('orders.temporal')}
                        </Anchor>
                      ) : null,
                    ],
                  ]}
                />
              </Section>
            </SimpleGrid>
            {order.steps.length > 0 ? <Steps order={order} /> : null}
          </>
        )}
      </Answered>
    </Page>
  );
}

function Steps({ order }: { order: Order }) {
  const t = useText();
  return (
    <Section title={t('orders.stepByStep')}>
      <List size="sm" listStyleType="none" spacing="xs">
        {order.steps.map((step) => {
          const [, index = ''] = step.key.split(':');
          return (
            <List.Item key={step.key}>
              <Group gap="xs">
                <Badge variant="light" color={STEP_COLORS[step.status]} tt="none">
                  {t(`orders.stepState.${step.status}`)}
                </Badge>
                <Text size="sm" span>
                  {stepName(step.key)} {index === '' ? '' : Number(index) + 1}
                </Text>
                {step.detail ? (
                  <Text size="sm" c="dimmed" span className="wrap-anywhere">
                    {textOf('orders.detail', step.detail)}
                  </Text>
                ) : null}
              </Group>
            </List.Item>
          );
        })}
      </List>
    </Section>
  );
}
