import { Button, Code, Group, Modal, Stack, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import IconBolt from 'tabler:bolt';
import { useState } from 'react';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { Facts } from '../../components/facts.tsx';
import { useFilter } from '../../components/filter.ts';
import { PageLink } from '../../components/page-link.tsx';
import { isEmptyList, PagedTable, RowDialogLink, usePaged } from '../../components/paged.tsx';
import { SearchField } from '../../components/search-field.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { Ago, toDateTime } from '../../components/time.tsx';
import { useText } from '../../text/index.ts';
import { AgentsPage } from './frame.tsx';
import { SendEvent } from './send-event.tsx';

type Event = RowOf<'/v1/events'>;

/** Page of the product events that Heron received, with a form that sends a test event. */
export default function EventsPage() {
  const t = useText();
  const maySend = useCan('send_campaigns');
  const [name, setName] = useFilter('name');
  const [email, setEmail] = useFilter('email');
  const [isOpen, form] = useDisclosure();
  const [shown, show] = useState<Event>();
  const isAddress = /^\S+@\S+\.\S+$/.test(email);
  const list = usePaged(['events', name, isAddress ? email : ''], (cursor, signal) =>
    dataOf(
      heron.GET('/v1/events', {
        params: { query: { limit: 50, ...(name ? { name } : {}), ...(isAddress ? { email } : {}), ...cursor } },
        signal,
      }),
    ),
  );
  const send = maySend ? (
    <Button leftSection={<IconBolt size={16} />} aria-haspopup="dialog" onClick={form.open}>
      {t('agents.event.send')}
    </Button>
  ) : null;
  const isNew = isEmptyList(list) && !name && !isAddress;
  return (
    <AgentsPage actions={isNew ? null : send}>
      <Answered query={list} skeleton={<ListSkeleton />}>
        {({ pages }) =>
          isNew ? (
            <Empty icon={IconBolt} title={t('agents.event.none')} action={send}>
              {t('agents.event.none.why')}
            </Empty>
          ) : (
            <>
              <Group gap="xs">
                <SearchField label={t('agents.event.byName')} value={name} onChange={setName} />
                <SearchField label={t('agents.event.byEmail')} value={email} onChange={setEmail} />
              </Group>
              <PagedTable
                list={list}
                minWidth={560}
                columns={[
                  { label: t('agents.event') },
                  { label: t('agents.event.person'), isExtra: true },
                  { label: t('agents.event.occurred'), isExtra: true },
                  { label: t('agents.event.received') },
                ]}
              >
                {pages
                  .flatMap(({ data }) => data)
                  .map((one) => (
                    <Table.Tr key={one.id}>
                      <Table.Td>
                        <RowDialogLink onOpen={() => show(one)}>{one.name}</RowDialogLink>
                      </Table.Td>
                      <Table.Td>
                        {one.contact_id ? (
                          <PageLink to={`/leads/${one.contact_id}`} size="sm">
                            {t('agents.event.contact')}
                          </PageLink>
                        ) : (
                          t('agents.event.noContact')
                        )}
                      </Table.Td>
                      <Table.Td c="dimmed">{toDateTime(one.occurred_at)}</Table.Td>
                      <Table.Td c="dimmed">
                        <Ago at={one.received_at} />
                      </Table.Td>
                    </Table.Tr>
                  ))}
              </PagedTable>
            </>
          )
        }
      </Answered>
      <Modal opened={shown !== undefined} onClose={() => show(undefined)} title={shown?.name} size="lg">
        {shown ? <EventDetail event={shown} /> : null}
      </Modal>
      {isOpen ? <SendEvent onClose={form.close} /> : null}
    </AgentsPage>
  );
}

function EventDetail({ event }: { event: Event }) {
  const t = useText();
  return (
    <Stack gap="sm">
      <Facts
        rows={[
          [t('agents.event.id'), <Code key="id">{event.id}</Code>],
          [t('agents.event.occurred'), toDateTime(event.occurred_at)],
          [t('agents.event.received'), toDateTime(event.received_at)],
          [
            t('agents.event.person'),
            event.contact_id ? (
              <PageLink key="contact" to={`/leads/${event.contact_id}`} size="sm">
                {t('agents.event.contact')}
              </PageLink>
            ) : (
              event.person_id
            ),
          ],
        ]}
      />
      <div>
        <Text size="sm" c="dimmed" mb={4}>
          {t('agents.event.data')}
        </Text>
        <Code block mah={260} className="wrap-anywhere" style={{ whiteSpace: 'pre-wrap' }} tabIndex={0}>
          {JSON.stringify(event.data, null, 2)}
        </Code>
      </div>
    </Stack>
  );
}
