import { Button, Group, Modal, Select, Table, Text, TextInput } from '@mantine/core';
import IconX from 'tabler:x';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useMembers } from '../../components/choices.ts';
import { useFilter } from '../../components/filter.ts';
import { PagedTable, RowDialogLink, usePaged } from '../../components/paged.tsx';
import { SearchField } from '../../components/search-field.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { useText } from '../../text/index.ts';
import { Actor, EntryDetail, type Entry } from './audit-entry.tsx';
import { ACTIONS, RECORD_TYPES } from './audit-names.ts';
import { actionName, entryName, recordTypeName } from './audit-labels.ts';
import { OperatorPage } from './frame.tsx';

/** Page of the audit log, filtered by actor, action, record, request and day. */
export default function AuditPage() {
  const t = useText();
  const mayTeam = useCan('manage_team');
  const [actor, setActor] = useFilter('actor');
  const [action, setAction] = useFilter('action');
  const [kind, setKind] = useFilter('kind');
  const [from, setFrom] = useFilter('from');
  const [to, setTo] = useFilter('to');
  const [record, setRecord] = useFilter('record');
  const [request, setRequest] = useFilter('request');
  const [open, setOpen] = useState<Entry>();
  const members = useMembers(mayTeam);
  const list = usePaged(['operator', 'audit', actor, action, kind, from, to, record, request], (cursor, signal) => {
    const query = {
      limit: 50,
      ...(actor ? { actor_id: actor } : {}),
      ...(action ? { action } : {}),
      ...(kind ? { entity_type: kind } : {}),
      ...(from ? { start_date: from } : {}),
      ...(to ? { end_date: to } : {}),
      ...(record ? { entity_id: record } : {}),
      ...(request ? { request_id: request } : {}),
      ...cursor,
    };
    return dataOf(heron.GET('/v1/audit-logs', { params: { query }, signal }));
  });
  return (
    <OperatorPage>
      <Group gap="xs" align="flex-end">
        {mayTeam ? (
          <Select
            label={t('operator.audit.who')}
            value={actor || null}
            onChange={(value) => setActor(value ?? '')}
            data={members.data ?? []}
            placeholder={t('operator.audit.anybody')}
            searchable
            clearable
            w={190}
          />
        ) : null}
        <Select
          label={t('operator.audit.action')}
          value={action || null}
          onChange={(value) => setAction(value ?? '')}
          data={choicesOf(ACTIONS, action, actionName)}
          placeholder={t('operator.audit.any')}
          searchable
          clearable
          w={200}
        />
        <Select
          label={t('operator.audit.kind')}
          value={kind || null}
          onChange={(value) => setKind(value ?? '')}
          data={choicesOf(RECORD_TYPES, kind, recordTypeName)}
          placeholder={t('operator.audit.any')}
          searchable
          clearable
          w={200}
        />
        <TextInput
          type="date"
          label={t('operator.audit.from')}
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
        <TextInput
          type="date"
          label={t('operator.audit.to')}
          value={to}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
        <SearchField label={t('operator.audit.request')} value={request} onChange={setRequest} />
        {record ? (
          <Button variant="default" rightSection={<IconX size={14} />} onClick={() => setRecord('')}>
            {t('operator.audit.oneRecord')}
          </Button>
        ) : null}
      </Group>
      <Answered query={list} skeleton={<ListSkeleton rows={8} />}>
        {({ pages }) => (
          <PagedTable
            list={list}
            minWidth={680}
            columns={[
              { label: t('operator.audit.what') },
              { label: t('operator.audit.who'), isExtra: true },
              { label: t('operator.when'), isExtra: true },
            ]}
          >
            {pages
              .flatMap(({ data }) => data)
              .map((one) => (
                <Table.Tr key={one.id}>
                  <Table.Td>
                    <RowDialogLink onOpen={() => setOpen(one)}>{entryName(one)}</RowDialogLink>
                    <Text size="xs" c="dimmed" ff="monospace" className="wrap-anywhere">
                      {one.entity_type} {one.action}
                    </Text>
                    <Text size="xs" c="dimmed" component="div" hiddenFrom="sm">
                      <Ago at={one.timestamp} /> · <Actor entry={one} />
                    </Text>
                  </Table.Td>
                  <Table.Td maw={280} className="wrap-anywhere">
                    <Actor entry={one} />
                  </Table.Td>
                  <Table.Td c="dimmed">
                    <Ago at={one.timestamp} />
                  </Table.Td>
                </Table.Tr>
              ))}
          </PagedTable>
        )}
      </Answered>
      <Modal
        opened={open !== undefined}
        onClose={() => setOpen(undefined)}
        title={open ? entryName(open) : null}
        size="lg"
      >
        {open ? (
          <EntryDetail
            entry={open}
            onRecord={(id) => {
              setRecord(id);
              setOpen(undefined);
            }}
            onRequest={(id) => {
              setRequest(id);
              setOpen(undefined);
            }}
          />
        ) : null}
      </Modal>
    </OperatorPage>
  );
}

/**
 * Returns options for API names, which can be searched by name and label. Also includes a chosen name that is not in
 * the list.
 */
function choicesOf(names: readonly string[], chosen: string, wordOf: (name: string) => string) {
  const known = names.includes(chosen) || chosen === '' ? names : [...names, chosen];
  return known
    .map((value) => ({ value, label: `${wordOf(value)} (${value})` }))
    .toSorted((one, other) => one.label.localeCompare(other.label));
}
