import { Checkbox, Menu, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { useText } from '../../text/index.ts';

/** Menu of a conversation's categories with checkboxes. A click on `children` opens the menu. */
export function LabelMenu({
  threadId,
  isOpen,
  onOpen,
  children,
}: {
  threadId: string;
  isOpen: boolean;
  onOpen: (isOpen: boolean) => void;
  children: ReactNode;
}) {
  const t = useText();
  const params = { query: { thread_id: threadId } };
  const all = useQuery({
    queryKey: ['tags', 'categories'],
    enabled: isOpen,
    queryFn: () => dataOf(heron.GET('/v1/categories')),
  });
  const set = useQuery({
    queryKey: ['inbox', 'labels', threadId],
    enabled: isOpen,
    queryFn: () => dataOf(heron.GET('/v1/unibox/thread/labels', { params })),
  });
  const replace = useAction(
    (ids: string[]) =>
      dataOf(heron.PUT('/v1/unibox/thread/labels', { body: { thread_id: threadId, category_ids: ids } })),
    { stale: [['inbox']] },
  );
  const chosen = replace.isPending ? replace.variables : (set.data?.data.map(({ id }) => id) ?? []);
  const rows = all.data?.data ?? [];
  return (
    <Menu opened={isOpen} onChange={onOpen} closeOnItemClick={false} position="bottom-end" width={240} withinPortal>
      <Menu.Target>{children}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t('inbox.categories')}</Menu.Label>
        {rows.map(({ id, title, color }) => {
          const isChosen = chosen.includes(id);
          return (
            <Menu.Item
              key={id}
              role="menuitemcheckbox"
              aria-checked={isChosen}
              leftSection={<Checkbox.Indicator checked={isChosen} size="xs" />}
              rightSection={<span className="inbox-dot" style={{ background: color }} />}
              disabled={!set.data}
              onClick={() => replace.mutate(isChosen ? chosen.filter((one) => one !== id) : [...chosen, id])}
            >
              <span className="clip">{title}</span>
            </Menu.Item>
          );
        })}
        {all.data && rows.length === 0 ? (
          <Text size="sm" c="dimmed" px="sm" pb="xs">
            {t('inbox.categories.none')}
          </Text>
        ) : null}
      </Menu.Dropdown>
    </Menu>
  );
}
