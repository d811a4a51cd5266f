import { Paper, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useText } from '../text/index.ts';
import { extraColumnClasses, type ColumnHead } from './columns.ts';
import style from './table-frame.module.css';

/**
 * Table with column headings in a box that scrolls sideways if it is too narrow; its first column then stays visible.
 * Shows a text if there are no rows.
 */
export function TableFrame({
  columns,
  minWidth,
  isEmpty,
  empty,
  children,
}: {
  columns: readonly ColumnHead[];
  /** Width (px) below which the table scrolls sideways. */
  minWidth: number;
  isEmpty: boolean;
  /** Text for an empty table. By default it says that nothing matches. */
  empty: string | undefined;
  children: ReactNode;
}) {
  const t = useText();
  const drops = extraColumnClasses(columns);
  return (
    <Paper withBorder radius="md">
      {isEmpty ? (
        <Text p="md" c="dimmed" size="sm">
          {empty ?? t('nothingFound')}
        </Text>
      ) : (
        <Table.ScrollContainer minWidth={minWidth} className={drops?.scroller ?? style.frame}>
          <Table highlightOnHover className={drops?.table ?? style.table}>
            <Table.Thead>
              <Table.Tr>
                {columns.map(({ label, head, isNumber, isHidden }) => (
                  <Table.Th key={label} ta={isNumber ? 'right' : undefined}>
                    {isHidden ? <span className="skip">{label}</span> : (head ?? label)}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>{children}</Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Paper>
  );
}
