import { Button, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { useText } from '../../text/index.ts';

/**
 * Button that shows the reading state of a mailbox: the last read of each folder, errors, and messages that wait to be
 * read.
 */
export function SyncButton({ id }: { id: string }) {
  const t = useText();
  const [isOpen, open] = useState(false);
  return (
    <>
      <Button size="xs" variant="default" aria-haspopup="dialog" onClick={() => open(true)}>
        {t('sync.open')}
      </Button>
      {isOpen ? <SyncDialog id={id} close={() => open(false)} /> : null}
    </>
  );
}

function SyncDialog({ id, close }: { id: string; close: () => void }) {
  const t = useText();
  const sync = useQuery({
    queryKey: ['mailboxes', id, 'sync'],
    queryFn: () => dataOf(heron.GET('/v1/emails/{id}/sync', { params: { path: { id } } })),
  });
  return (
    <Dialog title={t('sync.title')} onClose={close} size="lg">
      <Answered query={sync} skeleton={<ListSkeleton rows={2} height={32} />}>
        {({ folders, deferred }) =>
          folders.length === 0 ? (
            <Text size="sm">{t('sync.none')}</Text>
          ) : (
            <Stack gap="md">
              {deferred > 0 ? <Text size="sm">{t('sync.deferred', { count: deferred })}</Text> : null}
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>{t('sync.folder')}</Table.Th>
                    <Table.Th>{t('mailboxes.synced')}</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {folders.map(({ folder, last_synced_at: at, last_error: error, failures, retry_at: retryAt }) => (
                    <Table.Tr key={folder}>
                      <Table.Td className="wrap-anywhere">
                        {folder}
                        {error ? (
                          <Text size="sm" c="var(--mantine-color-error)">
                            {error}
                          </Text>
                        ) : null}
                        {failures > 0 ? (
                          <Text size="sm" c="dimmed">
                            {t('sync.failures', { count: failures })} {retryAt ? <Ago at={retryAt} /> : null}
                          </Text>
                        ) : null}
                      </Table.Td>
                      <Table.Td c="dimmed">{at ? <Ago at={at} /> : t('mailboxes.never')}</Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </Stack>
          )
        }
      </Answered>
    </Dialog>
  );
}
