import { Alert, Anchor, Badge, Group, List, Progress, Stack, Text } from '@mantine/core';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { toMoneyOfMinor } from '../../components/money.ts';
import { Ago, toDateTime } from '../../components/time.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { textOf, useText } from '../../text/index.ts';

export type Order = AnswerOf<'/v1/mailbox-provisioning/{id}'>;
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
export const STATUSES = Object.keys(COLORS) as Order['status'][];
/** Interval (ms) of refetching an order that is being paid or set up, in addition to the event stream. */
const FOLLOW_MS = 5_000;

/** Returns the refetch interval (ms) of orders; false if none is in progress. */
export function refetchIntervalMs(orders: readonly Pick<Order, 'status'>[]): number | false {
  return orders.some(({ status }) => !['ready', 'failed', 'cancelled'].includes(status)) && FOLLOW_MS;
}

/** Shows the state of an order. */
export function OrderState({ order }: { order: Order }) {
  const t = useText();
  return (
    <Badge variant="light" color={COLORS[order.status]} tt="none">
      {t(`orders.status.${order.status}`)}
    </Badge>
  );
}

/** Shows the progress of an order, its next step, and the reason for its wait or failure. */
export function OrderProgress({ order }: { order: Order }) {
  const t = useText();
  const done = order.steps.filter((step) => step.done).length;
  const current = order.steps.find((step) => !step.done);
  const isOver = order.status === 'failed' || order.status === 'cancelled';
  const due = toMoneyOfMinor(order.total_due_today_cents, order.currency.toUpperCase());
  return (
    <>
      {order.error ? (
        <Alert color="red" variant="light" title={order.error.message} role="note">
          {order.error.fix}
        </Alert>
      ) : null}
      {order.needs_person ? (
        <Alert color="red" variant="light" title={t('orders.needsPerson')} role="note">
          {t('orders.needsPerson.why')}
        </Alert>
      ) : null}
      {order.blocked_reason ? (
        <Alert color="red" variant="light" title={t('orders.blocked')} role="note" className="wrap-anywhere">
          {order.blocked_reason}
        </Alert>
      ) : null}
      {order.status === 'awaiting_payment' ? (
        <Alert color="blue" variant="light" role="note">
          <Stack gap={4}>
            {order.checkout_url ? (
              <Anchor href={order.checkout_url} size="sm" fw={600} c="inherit" underline="always">
                {t('orders.pay', { amount: due })}
              </Anchor>
            ) : (
              <Text size="sm">{t('orders.payment.comes')}</Text>
            )}
            {order.pay_by ? <Text size="sm">{t('orders.payBy', { when: toDateTime(order.pay_by) })}</Text> : null}
          </Stack>
        </Alert>
      ) : (
        <Text size="sm">{t(`orders.next.${order.status}`)}</Text>
      )}
      {order.steps.length > 0 && !isOver ? (
        <div>
          <Progress value={(done / order.steps.length) * 100} aria-label={t('orders.progress')} />
          <Text size="xs" c="dimmed" mt={4} className="wrap-anywhere">
            {t('orders.steps', { done, all: order.steps.length })}
            {current ? ` · ${stepName(current.key)}` : ''}
            {current?.detail ? ` · ${textOf('orders.detail', current.detail)}` : ''}
          </Text>
        </div>
      ) : null}
    </>
  );
}

/** Returns the name of a step without its number. */
export function stepName(key: string): string {
  const [kind = key] = key.split(':');
  return textOf('orders.step', kind);
}

/** Button that cancels an order. Hidden if the order has ended. */
export function CancelOrder({ order }: { order: Order }) {
  const t = useText();
  const may = useCan('manage_settings');
  const cancel = useAction(
    () =>
      dataOf(heron.POST('/v1/mailbox-provisioning/{id}/cancel', { params: { path: { id: order.provisioning_id } } })),
    { stale: [['orders'], ['mailboxes']], isShown: true },
  );
  if (!may || order.status === 'failed' || order.status === 'cancelled') return null;
  const isPaid = order.status !== 'awaiting_payment';
  return (
    <ConfirmButton size="xs" act={cancel} label={t('orders.cancel')} title={t('orders.cancel.ask')}>
      {t(isPaid ? 'orders.cancel.why' : 'orders.cancel.unpaid')}
    </ConfirmButton>
  );
}

/** Mailboxes of an order, with links to connected ones. */
export function OrderMailboxes({ order }: { order: Order }) {
  const t = useText();
  if (order.mailboxes.length === 0)
    return <Text size="sm">{t('orders.requested', { count: order.mailboxes_requested })}</Text>;
  return (
    <List size="sm" listStyleType="none" spacing={8}>
      {order.mailboxes.map(({ email, email_account_id: id, external_status: state }) => (
        <List.Item key={email}>
          <Group gap="xs">
            {id ? (
              <PageLink to={`/mailboxes/${id}`} size="sm">
                {email}
              </PageLink>
            ) : (
              email
            )}
            {state ? (
              <Text size="xs" c="dimmed" span>
                {textOf('orders.external', state)}
              </Text>
            ) : null}
          </Group>
        </List.Item>
      ))}
    </List>
  );
}

/** Returns the times of an order's creation and outcome. */
export function orderMoments(
  order: Order,
): [key: 'ordered' | 'paidAt' | 'readyAt' | 'failedAt' | 'cancelledAt', at: React.ReactNode][] {
  const ago = (at: string | undefined) => (at ? <Ago at={at} /> : null);
  return [
    ['ordered', ago(order.created_at)],
    ['paidAt', ago(order.paid_at)],
    ['readyAt', ago(order.ready_at)],
    ['failedAt', ago(order.failed_at)],
    ['cancelledAt', ago(order.cancelled_at)],
  ];
}
