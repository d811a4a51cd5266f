import type { ReactNode } from 'react';

/** Heading of a column. */
export interface ColumnHead {
  label: string;
  /** Content shown in place of the label. */
  head?: ReactNode;
  isNumber?: boolean;
  /** True to hide the column on a phone, where the row links to a page with the data. */
  isExtra?: boolean;
  /** True to show the heading only to screen readers. */
  isHidden?: boolean;
}

/**
 * Returns the CSS classes that hide a table's extra columns on a phone (style.css); `scroller` is for the surrounding
 * box.
 */
export function extraColumnClasses(columns: readonly ColumnHead[]): { scroller: string; table: string } | undefined {
  const dropped = columns.flatMap(({ isExtra }, at) => (isExtra ? [`drop-${at + 1}`] : []));
  return dropped.length > 0 ? { scroller: 'drops', table: dropped.join(' ') } : undefined;
}
