import { Anchor, Code, Group, Modal, Select, Stack, Table, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { Facts } from '../../parts/facts.tsx';
import { useFilter } from '../../parts/filter.ts';
import { PagedTable, usePaged } from '../../parts/paged.tsx';
import { Answered, ListSkeleton } from '../../parts/states.tsx';
import { Ago } from '../../parts/time.tsx';
import { nameOf } from '../../parts/name.ts';
import { useText } from '../../text/index.ts';
import { OperatorPage } from './frame.tsx';

type Entry = RowOf<'/v1/audit-logs'>;

/** Who did what: by person, action, kind of thing and day. */
export default function AuditPage() {
  const t = useText();
  const mayTeam = useCan('manage_team');
  const [actor, setActor] = useFilter('actor');
  const [action, setAction] = useFilter('action');
  const [kind, setKind] = useFilter('kind');
  const [from, setFrom] = useFilter('from');
  const [to, setTo] = useFilter('to');
  const [asked] = useDebouncedValue(`${action}\n${kind}`, 300);
  const [open, setOpen] = useState<Entry>();
  const members = useQuery({
    queryKey: ['team', 'members'],
    enabled: mayTeam,
    queryFn: () => dataOf(heron.GET('/v1/organizations/current/members', { params: { query: { limit: 100 } } })),
  });
  const list = usePaged(['operator', 'audit', actor, asked, from, to], (cursor, signal) => {
    const [askedAction, askedKind] = asked.split('\n');
    const query = {
      limit: 50,
      ...(actor ? { actor_id: actor } : {}),
      ...(askedAction ? { action: askedAction } : {}),
      ...(askedKind ? { entity_type: askedKind } : {}),
      ...(from ? { start_date: from } : {}),
      ...(to ? { end_date: to } : {}),
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
            data={(members.data?.data ?? []).map((one) => ({ value: one.user_id, label: one.email }))}
            placeholder={t('operator.audit.anybody')}
            searchable
            clearable
            w={220}
          />
        ) : null}
        <TextInput
          label={t('operator.audit.action')}
          value={action}
          onChange={(event) => setAction(event.currentTarget.value.trim())}
          placeholder="campaign.started"
          w={190}
        />
        <TextInput
          label={t('operator.audit.kind')}
          value={kind}
          onChange={(event) => setKind(event.currentTarget.value.trim())}
          placeholder="campaign"
          w={140}
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
      </Group>
      <Answered query={list} skeleton={<ListSkeleton rows={8} />}>
        {({ pages }) => (
          <PagedTable
            list={list}
            minWidth={680}
            columns={[
              { label: t('operator.audit.action') },
              { label: t('operator.audit.who') },
              { label: t('operator.audit.kind'), isExtra: true },
              { label: t('operator.when') },
            ]}
          >
            {pages
              .flatMap(({ data }) => data)
              .map((one) => (
                <Table.Tr key={one.id}>
                  <Table.Td>
                    <Anchor
                      component="button"
                      type="button"
                      size="sm"
                      fw={600}
                      aria-haspopup="dialog"
                      onClick={() => setOpen(one)}
                    >
                      {one.action}
                    </Anchor>
                  </Table.Td>
                  <Table.Td maw={280} className="clip">
                    <Actor entry={one} />
                  </Table.Td>
                  <Table.Td>{one.entity_type}</Table.Td>
                  <Table.Td c="dimmed">
                    <Ago at={one.timestamp} />
                  </Table.Td>
                </Table.Tr>
              ))}
          </PagedTable>
        )}
      </Answered>
      <Modal opened={open !== undefined} onClose={() => setOpen(undefined)} title={open?.action} size="lg">
        {open ? <Detail entry={open} /> : null}
      </Modal>
    </OperatorPage>
  );
}

function Actor({ entry: { actor } }: { entry: Entry }) {
  const t = useText();
  if (!actor) return <>{t('operator.audit.nobody')}</>;
  return <>{nameOf(actor)}</>;
}

function Detail({ entry }: { entry: Entry }) {
  const t = useText();
  const blocks = [
    [t('operator.audit.changes'), entry.changes],
    [t('operator.audit.metadata'), entry.metadata],
  ] as const;
  return (
    <Stack gap="sm">
      <Facts
        rows={[
          [t('operator.audit.who'), <Actor key="actor" entry={entry} />],
          [t('operator.when'), <Ago key="at" at={entry.timestamp} />],
          [t('operator.audit.kind'), entry.entity_type],
          [t('operator.audit.id'), entry.entity_id],
          [t('operator.audit.address'), entry.ip_address],
          [t('operator.audit.agent'), entry.user_agent],
        ]}
      />
      {blocks.map(([title, value]) =>
        value && Object.keys(value).length > 0 ? (
          <div key={title}>
            <Text size="sm" c="dimmed" mb={4}>
              {title}
            </Text>
            <Code block className="wrap-anywhere" style={{ whiteSpace: 'pre-wrap' }} tabIndex={0}>
              {JSON.stringify(value, null, 2)}
            </Code>
          </div>
        ) : null,
      )}
    </Stack>
  );
}
