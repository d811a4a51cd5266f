import { Button, Group, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { toNumber, useText } from '../text/index.ts';
import type { ColumnHead } from './columns.ts';
import { saveCsv, type Cell } from './csv.ts';
import { TableFrame } from './table-frame.tsx';

/** Column with its value. The CSV file contains the value, and so does the page unless `show` is given. */
export interface Column<Row> extends ColumnHead {
  value: (row: Row) => Cell;
  show?: (row: Row) => ReactNode;
}

/** Shows a complete table with title, description (such as its period) and a CSV download. */
export function DataTable<Row>({
  title,
  note,
  filename,
  columns,
  rows,
  keyOf,
  empty,
}: {
  title: string;
  note?: ReactNode;
  filename: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  empty?: string;
}) {
  const t = useText();
  const shown = ({ value, show, isNumber }: Column<Row>, row: Row) => {
    if (show) return show(row);
    const cell = value(row);
    return isNumber && typeof cell === 'number' ? toNumber(cell) : cell;
  };
  return (
    <section>
      <Group justify="space-between" align="flex-end" mb="xs" gap="xs">
        <div>
          <Text component="h2" fw={650} size="md" m={0}>
            {title}
          </Text>
          {note ? (
            <Text size="xs" c="dimmed">
              {note}
            </Text>
          ) : null}
        </div>
        {rows.length > 0 ? (
          <Button
            size="xs"
            variant="default"
            aria-label={t('csv.of', { name: title })}
            onClick={() =>
              saveCsv(
                filename,
                columns.map(({ label }) => label),
                rows.map((row) => columns.map(({ value }) => value(row))),
              )
            }
          >
            {t('csv')}
          </Button>
        ) : null}
      </Group>
      {/* Prevents line breaks in cells, so that the table is only as wide as its content. */}
      <TableFrame columns={columns} minWidth={0} isEmpty={rows.length === 0} empty={empty}>
        {rows.map((row) => (
          <Table.Tr key={keyOf(row)}>
            {columns.map((column) => (
              <Table.Td
                key={column.label}
                ta={column.isNumber ? 'right' : undefined}
                maw={column.isNumber ? undefined : 320}
                className={column.isNumber ? undefined : 'clip'}
              >
                {shown(column, row)}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </TableFrame>
    </section>
  );
}
