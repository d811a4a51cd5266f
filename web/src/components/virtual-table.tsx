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
import { extraColumnClasses, type ColumnHead } from './columns.ts';
import { useLinks } from './links.ts';
import { SelectBox, selectColumn } from './select-box.tsx';
import type { Selection } from '../hooks/selection.ts';
import classes from './virtual-table.module.css';

/**
 * Height (px) of every row, as in virtual-table.module.css. The height is fixed so that the position of a row is known
 * before rendering.
 */
const ROW = 45;
/**
 * Number of rows rendered outside the visible range. The rendered range moves in steps of this size, so that most
 * scrolling renders nothing.
 */
const BEYOND = 24;
const STEP = 8;
/** Number of rows rendered on each side of the focused row, so that the next row exists before a key moves to it. */
const BESIDE = 8;
/** `aria-rowindex` of the first row; the headings have index 1. */
const FIRST_INDEX = 2;
/**
 * Number of rows before the end of the list at which the next page is loaded. While scrolling, it is loaded earlier.
 */
const AHEAD = 40;
const AHEAD_SCROLLING = 200;

/** Selection of rows. Its parts must be stable, so that existing rows are not rendered again. */
interface Select<Row> {
  selection: Selection;
  /** Name of a row, for its checkbox. */
  nameOf: (row: Row) => string;
}

type List<Row> = Pick<
  UseInfiniteQueryResult<{ pages: { data: readonly Row[]; pagination: { total: number | null } }[] }>,
  'data' | 'hasNextPage' | 'fetchNextPage' | 'isFetchingNextPage'
>;

/**
 * Table for lists of any length. Only rows near the visible range are rendered, and the next page is loaded near the
 * end. Cells are one line high; long content needs the class `clip`. Fast scrolling renders many cells per frame, so
 * use plain `td` and `a` (one handler follows all links), and no menus or tooltips.
 */
export function VirtualTable<Row>({
  list,
  columns,
  minWidth,
  keyOf,
  select,
  empty,
  children,
}: {
  list: List<Row>;
  columns: readonly (ColumnHead & { width?: number | string })[];
  /** Width (px) below which the table scrolls sideways. */
  minWidth: number;
  keyOf: (row: Row) => string;
  /** Selection of rows. If given, a column with checkboxes is added. */
  select?: Select<Row> | undefined;
  /** Text for an empty list. By default it says that nothing matches. */
  empty?: string | undefined;
  /** Renders the cells of a row. Must be a stable function, so that existing rows are not rendered again. */
  children: (row: Row) => ReactNode;
}) {
  const t = useText();
  const rows = useMemo(() => list.data?.pages.flatMap(({ data }) => data) ?? [], [list.data]);
  // Some lists have a known total only when all pages are loaded.
  const total = list.hasNextPage ? list.data?.pages[0]?.pagination.total : rows.length;
  const shown = select ? [selectColumn(select.selection), ...columns] : columns;
  const drops = extraColumnClasses(shown);
  if (select) select.selection.order = rows.map(keyOf);
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
              {shown.map(({ label, head, isNumber, width, isHidden }) => (
                <Table.Th key={label} ta={isNumber ? 'right' : undefined} w={width}>
                  {isHidden ? <span className="skip">{label}</span> : (head ?? label)}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Rows rows={rows} list={list} keyOf={keyOf} select={select} cells={children} />
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
 * Renders the rows near the visible range and those around the focused row, which keeps its focus when scrolled away.
 * State that changes while scrolling is kept here, so that the rest of the page is not rendered again.
 */
function Rows<Row>({
  rows,
  list: { hasNextPage, isFetchingNextPage, fetchNextPage },
  keyOf,
  select,
  cells,
}: {
  rows: readonly Row[];
  list: List<Row>;
  keyOf: (row: Row) => string;
  select: Select<Row> | undefined;
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
      // Runs before the next key is handled, so that the row to which it moves is rendered at any scroll position.
      onFocus={(event) => {
        const row = rowOf(event);
        if (row) setFocused(Number(row.ariaRowIndex) - FIRST_INDEX);
      }}
    >
      {spans.flatMap(([from, to], at) => [
        // The key is that of the row below. Otherwise a moving spacer would remount the focused row, which would then
        // lose its focus.
        <Space key={`above ${keyOf(rows[from]!)}`} rows={from - (spans[at - 1]?.[1] ?? 0)} />,
        ...rows
          .slice(from, to)
          .map((row, n) => (
            <Drawn
              key={keyOf(row)}
              row={row}
              id={keyOf(row)}
              index={from + n}
              selection={select?.selection}
              nameOf={select?.nameOf as ((row: unknown) => string) | undefined}
              cells={cells as (row: unknown) => ReactNode}
            />
          )),
      ])}
      <Space key="below" rows={rows.length - end} />
    </tbody>
  );
}

/** Range of rows; `to` is excluded. */
type Span = readonly [from: number, to: number];

const around = (row: number): Span => [row - BESIDE, row + BESIDE + 1];

/** Clips ranges to the number of rows, sorts them, and merges adjacent ones. */
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

/** Tracks the visible range of rows, with a margin on both sides. The range may extend beyond the last row. */
function useInSight(body: RefObject<HTMLElement | null>): Span {
  const [seen, setSeen] = useState<Span>([0, STEP]);
  useEffect(() => {
    const look = () => {
      const top = body.current?.getBoundingClientRect().top ?? 0;
      const first = Math.floor(-top / ROW / STEP) * STEP;
      const last = first + (Math.ceil(window.innerHeight / ROW / STEP) + 1) * STEP;
      // Renders the rows in the frame in which they become visible, not in the next one.
      flushSync(() => setSeen((before) => (before[0] === first && before[1] === last ? before : [first, last])));
    };
    // The list also moves when content above it changes its height.
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

/** Moves the focus with the arrow keys to the same link or button of the next row. Tab visits all links and buttons. */
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
    // Prevents the page from scrolling.
    event.preventDefault();
    next.focus();
    return;
  }
}

/** Returns the row in which an event happened; null for events of a dialog that a row has opened. */
function rowOf({ target, currentTarget }: SyntheticEvent): Element | null {
  return currentTarget.contains(target as Node) ? (target as Element).closest('tr') : null;
}

const controlsOf = (row: Element) => [...row.querySelectorAll<HTMLElement>('a, button, input')];

/** One row. It is memoized, because its cells change only with the row, the page and the language. */
const Drawn = memo(function Drawn({
  row,
  id,
  index,
  selection,
  nameOf,
  cells,
}: {
  row: unknown;
  id: string;
  index: number;
  selection: Selection | undefined;
  nameOf: ((row: unknown) => string) | undefined;
  cells: (row: unknown) => ReactNode;
}) {
  useText();
  return (
    <tr aria-rowindex={index + FIRST_INDEX}>
      {selection && nameOf ? (
        <td>
          <SelectBox selection={selection} id={id} name={nameOf(row)} />
        </td>
      ) : null}
      {cells(row)}
    </tr>
  );
});

/**
 * Spacer for rows that are not rendered. It has only one cell, because more cells would show columns that are hidden on
 * a phone.
 */
function Space({ rows }: { rows: number }) {
  return rows > 0 ? (
    <tr aria-hidden>
      <td style={{ height: rows * ROW, padding: 0 }} />
    </tr>
  ) : null;
}
