import { Table, Text } from '@mantine/core';
import { toMoneyOfMinor } from '../../components/money.ts';
import { toNumber, useText } from '../../text/index.ts';
import type { Order } from './order-card.tsx';

/** Line items of an order, with the amounts due today and per month. */
export function LineItems({
  priced,
  isOrdered = false,
}: {
  /** True for a placed order, for which no payment is due today. */
  isOrdered?: boolean;
  priced: Pick<Order, 'line_items' | 'currency' | 'total_due_today_cents' | 'total_monthly_cents'>;
}) {
  const t = useText();
  const money = (cents: number) => toMoneyOfMinor(cents, priced.currency.toUpperCase());
  return (
    // On a phone only the total of a line is in its own column. The calculation is below the name of the line.
    <Table.ScrollContainer minWidth={420} className="drops">
      <Table className="drop-2 drop-3">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('orders.item')}</Table.Th>
            <Table.Th ta="right">{t('orders.item.count')}</Table.Th>
            <Table.Th ta="right">{t('orders.item.each')}</Table.Th>
            <Table.Th ta="right">{t('orders.item.total')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {priced.line_items.map((item) => (
            <Table.Tr key={item.key}>
              <Table.Td>
                <span className="wrap-anywhere">{item.label}</span>
                <Text size="xs" c="dimmed">
                  <Text span inherit hiddenFrom="sm">
                    {toNumber(item.quantity)} × {money(item.unit_cents)}{' '}
                  </Text>
                  {t(`orders.interval.${item.interval}`)}
                </Text>
              </Table.Td>
              <Table.Td ta="right">{toNumber(item.quantity)}</Table.Td>
              <Table.Td ta="right">{money(item.unit_cents)}</Table.Td>
              <Table.Td ta="right">{money(item.total_cents)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
        <Table.Tfoot>
          {(
            [
              [isOrdered ? 'orders.dueOnce' : 'orders.dueToday', priced.total_due_today_cents],
              ['orders.thenMonthly', priced.total_monthly_cents],
            ] as const
          ).map(([label, cents]) => (
            <Table.Tr key={label}>
              <Table.Td fw={700}>{t(label)}</Table.Td>
              <Table.Td />
              <Table.Td />
              <Table.Td fw={700} ta="right">
                {money(cents)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tfoot>
      </Table>
    </Table.ScrollContainer>
  );
}
