import { useEffect, useRef, useSyncExternalStore } from 'react';
import { text, useText } from '../text/index.ts';
import type { ColumnHead } from './columns.ts';
import { useChosen, type Selection } from '../hooks/selection.ts';

/** Width (px) of the column with the checkboxes. */
const WIDTH = 40;

/** Returns the column of the checkboxes; it comes first. */
export function selectColumn(selection: Selection): ColumnHead & { width: number } {
  const label = text('select.loaded');
  return { label, head: <SelectLoaded selection={selection} label={label} />, width: WIDTH };
}

/**
 * Checkbox that chooses a row. It is a plain element, because long lists render many. With Shift it also chooses all
 * rows between this one and the row toggled last.
 */
export function SelectBox({ selection, id, name }: { selection: Selection; id: string; name: string }) {
  const t = useText();
  const isChosen = useSyncExternalStore(selection.subscribe, () => selection.has(id));
  return (
    <input
      type="checkbox"
      className="select-box"
      aria-label={t('select.row', { name })}
      checked={isChosen}
      onChange={({ nativeEvent }) => selection.toggle(id, (nativeEvent as MouseEvent).shiftKey)}
    />
  );
}

/** Checkbox in the head of a list that chooses all loaded rows. */
function SelectLoaded({ selection, label }: { selection: Selection; label: string }) {
  const { ids, isAll } = useChosen(selection);
  const box = useRef<HTMLInputElement>(null);
  const isFull = selection.hasLoaded();
  useEffect(() => {
    if (box.current) box.current.indeterminate = !isFull && (isAll || ids.size > 0);
  });
  return (
    <input
      ref={box}
      type="checkbox"
      className="select-box"
      aria-label={label}
      checked={isFull}
      onChange={() => selection.toggleLoaded()}
    />
  );
}
