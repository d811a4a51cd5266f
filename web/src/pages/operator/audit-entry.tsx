import { Button, Code, Group, Stack, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { RowOf } from '../../app/api.ts';
import { Facts } from '../../components/facts.tsx';
import { nameOf } from '../../components/name.ts';
import { Ago } from '../../components/time.tsx';
import { useText } from '../../text/index.ts';
import { fieldName, recordTypeName } from './audit-labels.ts';

export type Entry = RowOf<'/v1/audit-logs'>;

/** Shows the actor of an entry. */
export function Actor({ entry: { actor } }: { entry: Entry }) {
  const t = useText();
  return <>{actor ? nameOf(actor) : t('operator.audit.nobody')}</>;
}

/** Shows all data of one entry, as text and by the names of the API. */
export function EntryDetail({
  entry,
  onRecord,
  onRequest,
}: {
  entry: Entry;
  /** Called to filter the list by a record. */
  onRecord: (id: string) => void;
  /** Called to filter the list by a request. */
  onRequest: (id: string) => void;
}) {
  const t = useText();
  return (
    <Stack gap="md">
      <Facts
        rows={[
          [t('operator.audit.who'), <Actor key="actor" entry={entry} />],
          [t('operator.when'), <Ago key="at" at={entry.timestamp} />],
          [t('operator.audit.action'), <Code key="action">{entry.action}</Code>],
          [
            t('operator.audit.kind'),
            <Group key="kind" gap="xs">
              {recordTypeName(entry.entity_type)} <Code>{entry.entity_type}</Code>
            </Group>,
          ],
          [t('operator.audit.id'), entry.entity_id ? <Code key="id">{entry.entity_id}</Code> : null],
          [t('operator.audit.requestId'), entry.request_id ? <Code key="request">{entry.request_id}</Code> : null],
          [t('operator.audit.address'), entry.ip_address],
          [t('operator.audit.agent'), entry.user_agent],
        ]}
      />
      <Changes changes={entry.changes ?? {}} />
      <Metadata metadata={entry.metadata ?? {}} />
      <Group gap="xs">
        {entry.entity_id ? (
          <Button size="xs" variant="default" onClick={() => onRecord(entry.entity_id!)}>
            {t('operator.audit.ofRecord')}
          </Button>
        ) : null}
        {entry.request_id ? (
          <Button size="xs" variant="default" onClick={() => onRequest(entry.request_id!)}>
            {t('operator.audit.ofRequest')}
          </Button>
        ) : null}
      </Group>
    </Stack>
  );
}

/** Text in place of a secret's value. The audit log records only that a secret has changed. */
const HIDDEN = '(hidden)';

/** Shows changed fields with their values before and after. */
function Changes({ changes }: { changes: NonNullable<Entry['changes']> }) {
  const t = useText();
  return (
    <FieldTable
      title={t('operator.audit.changes')}
      labels={[t('operator.audit.before'), t('operator.audit.after')]}
      rows={Object.entries(changes).map(([name, { from, to }]) => [
        name,
        [from === HIDDEN ? '–' : shown(from), to === HIDDEN ? t('operator.audit.secret') : shown(to)],
      ])}
    />
  );
}

/** Shows the additional data of an entry, by field. */
function Metadata({ metadata }: { metadata: NonNullable<Entry['metadata']> }) {
  const t = useText();
  return (
    <FieldTable
      title={t('operator.audit.metadata')}
      labels={[t('operator.value')]}
      rows={Object.entries(metadata).map(([name, value]) => [name, [shown(value)]])}
    />
  );
}

function FieldTable({
  title,
  labels,
  rows,
}: {
  title: string;
  labels: readonly string[];
  rows: readonly (readonly [name: string, cells: readonly ReactNode[]])[];
}) {
  const t = useText();
  if (rows.length === 0) return null;
  return (
    <Table.ScrollContainer minWidth={labels.length > 1 ? 520 : 320}>
      <Table verticalSpacing={6} captionSide="top" layout="fixed">
        <Table.Caption ta="start" mt={0}>
          {title}
        </Table.Caption>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('operator.audit.field')}</Table.Th>
            {labels.map((label) => (
              <Table.Th key={label}>{label}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(([name, cells]) => (
            <Table.Tr key={name}>
              <Table.Td className="wrap-anywhere">
                {fieldName(name)}
                <Text span display="block" size="xs" c="dimmed" ff="monospace">
                  {name}
                </Text>
              </Table.Td>
              {cells.map((cell, index) => (
                <Table.Td key={labels[index]} className="wrap-anywhere">
                  {cell}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function shown(value: unknown): ReactNode {
  if (value === undefined || value === null || value === '') return '–';
  if (typeof value === 'object') {
    const isList = Array.isArray(value) && value.every((one) => typeof one !== 'object');
    return isList ? value.join(', ') : <Code>{JSON.stringify(value)}</Code>;
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}
