import { Button, Group } from '@mantine/core';
import { useText } from '../../text/index.ts';

/** The way to more of a list that is loaded page by page. */
export function More({
  list,
}: {
  list: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
}) {
  const t = useText();
  return list.hasNextPage ? (
    <Group justify="center" mt="sm">
      <Button variant="default" onClick={() => void list.fetchNextPage()} loading={list.isFetchingNextPage}>
        {t('more')}
      </Button>
    </Group>
  ) : null;
}
