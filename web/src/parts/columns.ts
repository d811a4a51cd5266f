/** The head of a column. */
export interface ColumnHead {
  label: string;
  isNumber?: boolean;
  /** A phone does without it: what the others say is enough there, and the row leads to the rest. */
  isExtra?: boolean;
  /** It is said to screen readers alone: what stands below it speaks for itself. */
  isHidden?: boolean;
}

/** The classes by which a table leaves its extra columns out on a phone (style.css); `scroller` is of the box around it. */
export function dropsOf(columns: readonly ColumnHead[]): { scroller: string; table: string } | undefined {
  const dropped = columns.flatMap(({ isExtra }, at) => (isExtra ? [`drop-${at + 1}`] : []));
  return dropped.length > 0 ? { scroller: 'drops', table: dropped.join(' ') } : undefined;
}
