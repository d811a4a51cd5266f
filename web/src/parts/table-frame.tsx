import { Paper, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useText } from '../text/index.ts';
import { dropsOf, type ColumnHead } from './columns.ts';
import style from './table-frame.module.css';

/**
 * A table under the heads of its columns, in a box that scrolls sideways where it is too narrow; a word where there is no row. Its first column, which
 * says what a row is about, stays in sight then.
 */
export function TableFrame({
  columns,
  minWidth,
  isEmpty,
  empty,
  children,
}: {
  columns: readonly ColumnHead[];
  /** Below this width (px) the table scrolls sideways. */
  minWidth: number;
  isEmpty: boolean;
  /** What is said where there is no row; by default that nothing matches. */
  empty: string | undefined;
  /** The rows. */
  children: ReactNode;
}) {
  const t = useText();
  const drops = dropsOf(columns);
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
                {columns.map(({ label, isNumber, isHidden }) => (
                  <Table.Th key={label} ta={isNumber ? 'right' : undefined}>
                    {isHidden ? <span className="skip">{label}</span> : label}
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
