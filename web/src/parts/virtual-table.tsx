import { Box, Paper, Table, Text } from '@mantine/core';
import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { memo, useEffect, useMemo, useRef, useState, type ReactNode, type RefObject } from 'react';
import { flushSync } from 'react-dom';
import { useText } from '../text/index.ts';
import { dropsOf, type ColumnHead } from './columns.ts';
import { useLinks } from './links.ts';
import classes from './virtual-table.module.css';

/** Height of one row (px), as in virtual-table.module.css; every row has it, so that a row's place is known before it is drawn. */
const ROW = 45;
/** Rows drawn beyond what is seen, and by how many they come and go: between two such steps scrolling draws nothing. */
const BEYOND = 24;
const STEP = 8;
/** How many rows before the end the next page is asked for; more once somebody scrolls, so that it is there before them. */
const AHEAD = 40;
const AHEAD_SCROLLING = 200;

type List<Row> = Pick<
  UseInfiniteQueryResult<{ pages: { data: readonly Row[]; pagination: { total: number | null } }[] }>,
  'data' | 'hasNextPage' | 'fetchNextPage' | 'isFetchingNextPage'
>;

/**
 * A list of any length under its columns. Only the rows near what is seen are in the page, and the next ones are asked for as the end comes near.
 * Cells are one line high: what may be long has the class `clip`. They are drawn for every row that comes into sight, many in each frame of a
 * fast scroll: plain `td` and `a` are enough for most (the links of all rows are followed by one handler), and menus or tooltips are not for cells.
 */
export function VirtualTable<Row>({
  list,
  columns,
  minWidth,
  keyOf,
  empty,
  children,
}: {
  list: List<Row>;
  columns: readonly (ColumnHead & { width?: number | string; isHidden?: boolean })[];
  /** Below this width (px) the table scrolls sideways. */
  minWidth: number;
  keyOf: (row: Row) => string;
  /** What is said where there is no row; by default that nothing matches. */
  empty?: string | undefined;
  /** The cells of a row; a function that stays the same, so that a row which is there is not drawn again. */
  children: (row: Row) => ReactNode;
}) {
  const t = useText();
  const rows = useMemo(() => list.data?.pages.flatMap(({ data }) => data) ?? [], [list.data]);
  const drops = dropsOf(columns);
  if (list.data && rows.length === 0)
    return (
      <Paper withBorder radius="md">
        <Text p="md" c="dimmed" size="sm">
          {empty ?? t('nothingFound')}
        </Text>
      </Paper>
    );
  return (
    <Paper withBorder radius="md">
      <Table.ScrollContainer minWidth={minWidth} className={drops?.scroller}>
        <Table
          highlightOnHover
          layout="fixed"
          className={drops?.table}
          aria-rowcount={(list.data?.pages[0]?.pagination.total ?? -2) + 1}
        >
          <Table.Thead>
            <Table.Tr aria-rowindex={1}>
              {columns.map(({ label, isNumber, width, isHidden }) => (
                <Table.Th key={label} ta={isNumber ? 'right' : undefined} w={width}>
                  {isHidden ? <span className="skip">{label}</span> : label}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Rows rows={rows} list={list} keyOf={keyOf} cells={children} />
        </Table>
      </Table.ScrollContainer>
      {list.isFetchingNextPage ? (
        <Box p="sm" ta="center" c="dimmed" fz="sm" role="status">
          {t('loading')}
        </Box>
      ) : null}
    </Paper>
  );
}

/** The rows near what is seen. What scrolling changes is here, so that nothing around them is drawn again. */
function Rows<Row>({
  rows,
  list: { hasNextPage, isFetchingNextPage, fetchNextPage },
  keyOf,
  cells,
}: {
  rows: readonly Row[];
  list: List<Row>;
  keyOf: (row: Row) => string;
  cells: (row: Row) => ReactNode;
}) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [from, to] = useInSight(body, rows.length);
  const { follow, begin } = useLinks();
  const isNearEnd = to + (from > 0 ? AHEAD_SCROLLING : AHEAD) >= rows.length;
  useEffect(() => {
    if (isNearEnd && hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [isNearEnd, rows.length, hasNextPage, isFetchingNextPage, fetchNextPage]);
  return (
    <tbody ref={body} className={classes.rows} onClick={follow} onPointerDown={begin}>
      <Space rows={from} />
      {rows.slice(from, to).map((row, at) => (
        <Drawn key={keyOf(row)} row={row} index={from + at} cells={cells as (row: unknown) => ReactNode} />
      ))}
      <Space rows={rows.length - to} />
    </tbody>
  );
}

/** The first of the rows to draw, and the one behind the last: those in the window, and some before and behind. */
function useInSight(body: RefObject<HTMLElement | null>, count: number): [from: number, to: number] {
  const [seen, setSeen] = useState<[first: number, last: number]>([0, STEP]);
  useEffect(() => {
    const look = () => {
      const top = body.current?.getBoundingClientRect().top ?? 0;
      const first = Math.floor(-top / ROW / STEP) * STEP;
      const last = first + (Math.ceil(window.innerHeight / ROW / STEP) + 1) * STEP;
      // In the frame in which they come into sight, and not in the one after it.
      flushSync(() => setSeen((before) => (before[0] === first && before[1] === last ? before : [first, last])));
    };
    // React is at work until this effect is over, and draws nothing in between.
    const soon = requestAnimationFrame(look);
    window.addEventListener('scroll', look, { passive: true });
    window.addEventListener('resize', look);
    return () => {
      cancelAnimationFrame(soon);
      window.removeEventListener('scroll', look);
      window.removeEventListener('resize', look);
    };
  }, [body, count]);
  const within = (row: number) => Math.max(0, Math.min(count, row));
  return [within(seen[0] - BEYOND), within(seen[1] + BEYOND)];
}

/** One row; scrolling draws only those that come into sight, because its cells change with the row, the page and the language alone. */
const Drawn = memo(function Drawn({
  row,
  index,
  cells,
}: {
  row: unknown;
  index: number;
  cells: (row: unknown) => ReactNode;
}) {
  useText();
  return <tr aria-rowindex={index + 2}>{cells(row)}</tr>;
});

/** The place of rows that are not drawn: one cell, because columns that a phone leaves out would come back with a wider one. */
function Space({ rows }: { rows: number }) {
  return rows > 0 ? (
    <tr aria-hidden>
      <td style={{ height: rows * ROW, padding: 0 }} />
    </tr>
  ) : null;
}
