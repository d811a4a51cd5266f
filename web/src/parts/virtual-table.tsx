import { Box, Paper, Table, Text } from '@mantine/core';
import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import {
  memo,
  useEffect,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  type SyntheticEvent,
} from 'react';
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
/** Rows drawn on either side of the one that has the focus, so that no key comes before the row that it leads to. */
const BESIDE = 8;
/** The `aria-rowindex` of the first row: they count from one, and that of the heads is the first. */
const FIRST_INDEX = 2;
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
  columns: readonly (ColumnHead & { width?: number | string })[];
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
  // Not every list says how long it is before its end has come.
  const total = list.hasNextPage ? list.data?.pages[0]?.pagination.total : rows.length;
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
        <Table highlightOnHover layout="fixed" className={drops?.table} aria-rowcount={(total ?? -2) + 1}>
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

/**
 * The rows near what is seen, and those around the one that has the focus: it keeps the focus when it is scrolled away, and Tab finds the next.
 * What scrolling changes is here, so that nothing around the rows is drawn again.
 */
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
  const inSight = useInSight(body);
  const [focused, setFocused] = useState<number>();
  const { follow, begin } = useLinks();
  const spans = spansOf([inSight, ...(focused === undefined ? [] : [around(focused)])], rows.length);
  const end = spans.at(-1)?.[1] ?? 0;
  const isNearEnd = end + (inSight[0] > 0 ? AHEAD_SCROLLING : AHEAD) >= rows.length;
  useEffect(() => {
    if (isNearEnd && hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [isNearEnd, rows.length, hasNextPage, isFetchingNextPage, fetchNextPage]);
  return (
    <tbody
      ref={body}
      className={classes.rows}
      onClick={follow}
      onPointerDown={begin}
      onKeyDown={goByArrows}
      // Before the next key is looked at: the rows that it leads to are there then, wherever the page has been scrolled to.
      onFocus={(event) => {
        const row = rowOf(event);
        if (row) setFocused(Number(row.ariaRowIndex) - FIRST_INDEX);
      }}
    >
      {spans.flatMap(([from, to], at) => [
        // Its key is that of the row below: what has the focus would lose it if a space took another place among the rows.
        <Space key={`above ${keyOf(rows[from]!)}`} rows={from - (spans[at - 1]?.[1] ?? 0)} />,
        ...rows
          .slice(from, to)
          .map((row, n) => (
            <Drawn key={keyOf(row)} row={row} index={from + n} cells={cells as (row: unknown) => ReactNode} />
          )),
      ])}
      <Space key="below" rows={rows.length - end} />
    </tbody>
  );
}

/** Rows from one to before another. */
type Span = readonly [from: number, to: number];

const around = (row: number): Span => [row - BESIDE, row + BESIDE + 1];

/** Spans as far as there are rows, from the top; those that touch are one. */
function spansOf(spans: readonly Span[], count: number): Span[] {
  const within = (row: number) => Math.max(0, Math.min(count, row));
  const merged: [number, number][] = [];
  for (const [from, to] of spans
    .map(([from, to]) => [within(from), within(to)] as const)
    .toSorted(([a], [b]) => a - b)) {
    const above = merged.at(-1);
    if (above && from <= above[1]) above[1] = Math.max(above[1], to);
    else if (to > from) merged.push([from, to]);
  }
  return merged;
}

/** Follows what is in the window: the rows there, and some before and behind, as if the list had no end. */
function useInSight(body: RefObject<HTMLElement | null>): Span {
  const [seen, setSeen] = useState<Span>([0, STEP]);
  useEffect(() => {
    const look = () => {
      const top = body.current?.getBoundingClientRect().top ?? 0;
      const first = Math.floor(-top / ROW / STEP) * STEP;
      const last = first + (Math.ceil(window.innerHeight / ROW / STEP) + 1) * STEP;
      // In the frame in which they come into sight, and not in the one after it.
      flushSync(() => setSeen((before) => (before[0] === first && before[1] === last ? before : [first, last])));
    };
    // The list moves, too, when what is above it grows or shrinks.
    const page = new ResizeObserver(look);
    page.observe(document.body);
    window.addEventListener('scroll', look, { passive: true });
    window.addEventListener('resize', look);
    return () => {
      page.disconnect();
      window.removeEventListener('scroll', look);
      window.removeEventListener('resize', look);
    };
  }, [body]);
  return [seen[0] - BEYOND, seen[1] + BEYOND];
}

/** The arrows lead to the same link or button of the next row, where there is one; Tab goes through all of them. */
function goByArrows(event: KeyboardEvent): void {
  const step = ({ ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling' } as const)[event.key];
  if (!step || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const from = event.target as HTMLElement;
  const here = rowOf(event);
  const place = here ? controlsOf(here).indexOf(from) : -1;
  if (place < 0) return;
  for (let row = here?.[step]; row && !row.ariaHidden; row = row[step]) {
    const controls = controlsOf(row);
    const next = controls[place] ?? controls[0];
    if (!next) continue;
    // Or the page would be scrolled on.
    event.preventDefault();
    next.focus();
    return;
  }
}

/** The row in which something happened; none for what happened in a dialog that a row has opened. */
function rowOf({ target, currentTarget }: SyntheticEvent): Element | null {
  return currentTarget.contains(target as Node) ? (target as Element).closest('tr') : null;
}

const controlsOf = (row: Element) => [...row.querySelectorAll<HTMLElement>('a, button, input')];

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
  return <tr aria-rowindex={index + FIRST_INDEX}>{cells(row)}</tr>;
});

/** The place of rows that are not drawn: one cell, because columns that a phone leaves out would come back with a wider one. */
function Space({ rows }: { rows: number }) {
  return rows > 0 ? (
    <tr aria-hidden>
      <td style={{ height: rows * ROW, padding: 0 }} />
    </tr>
  ) : null;
}
