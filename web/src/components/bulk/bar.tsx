import { Button, Group, Paper, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { toNumber, useText } from '../../text/index.ts';
import { useChosen, type Selection } from '../../hooks/selection.ts';

/** Returns the number of chosen rows; null while the total is unknown. */
export function useCount(selection: Selection, total: number | null): number | null {
  const { isAll, ids } = useChosen(selection);
  if (!isAll) return ids.size;
  return total === null ? null : total - ids.size;
}

/** Bar below a list with the number of chosen rows, a button that chooses all matching rows, and the actions. */
export function BulkBar({
  selection,
  total,
  mayChooseAll = true,
  children,
}: {
  selection: Selection;
  /** Number of rows that match the filter; null if unknown. */
  total: number | null;
  /** False if the action accepts only row ids, not a filter. */
  mayChooseAll?: boolean;
  children: ReactNode;
}) {
  const t = useText();
  const { isAll } = useChosen(selection);
  const count = useCount(selection, total);
  return (
    <Paper
      withBorder
      radius="md"
      shadow="md"
      p="xs"
      className="bulk-bar"
      component="section"
      aria-label={t('bulk.bar')}
    >
      <Group gap="xs">
        <Text size="sm" fw={600} role="status">
          {count === null ? t('bulk.all') : t('bulk.count', { count })}
        </Text>
        {mayChooseAll && !isAll && (total === null || total > (count ?? 0)) ? (
          <Button size="compact-sm" variant="subtle" onClick={() => selection.chooseAll()}>
            {total === null ? t('bulk.chooseAll') : t('bulk.chooseAll.count', { total: toNumber(total) })}
          </Button>
        ) : null}
        <Button size="compact-sm" variant="subtle" color="gray" onClick={() => selection.clear()}>
          {t('bulk.clear')}
        </Button>
        <Group gap="xs" ml="auto">
          {children}
        </Group>
      </Group>
    </Paper>
  );
}
