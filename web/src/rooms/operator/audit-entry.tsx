import { Code, Group, Stack, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { RowOf } from '../../app/api.ts';
import { Facts } from '../../parts/facts.tsx';
import { nameOf } from '../../parts/name.ts';
import { Ago } from '../../parts/time.tsx';
import { useText } from '../../text/index.ts';
import { fieldName, thingName } from './audit-words.ts';

export type Entry = RowOf<'/v1/audit-logs'>;

/** Shows the actor of an entry. */
export function Actor({ entry: { actor } }: { entry: Entry }) {
  const t = useText();
  return <>{actor ? nameOf(actor) : t('operator.audit.nobody')}</>;
}

/** Shows all data of one entry, as text and with the API's names. */
export function EntryDetail({ entry }: { entry: Entry }) {
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
              {thingName(entry.entity_type)} <Code>{entry.entity_type}</Code>
            </Group>,
          ],
          [t('operator.audit.id'), entry.entity_id ? <Code key="id">{entry.entity_id}</Code> : null],
          [t('operator.audit.address'), entry.ip_address],
          [t('operator.audit.agent'), entry.user_agent],
        ]}
      />
      <Fields title={t('operator.audit.changes')} values={entry.changes} />
      <Fields title={t('operator.audit.metadata')} values={entry.metadata} />
    </Stack>
  );
}

/** Table of fields with their current and, if known, previous values. */
function Fields({ title, values }: { title: string; values: Record<string, unknown> | undefined }) {
  const t = useText();
  const rows = Object.entries(values ?? {}).map(([name, value]) => ({ name, ...toSides(value) }));
  if (rows.length === 0) return null;
  const hasBefore = rows.some(({ before }) => before !== undefined);
  return (
    <Table.ScrollContainer minWidth={hasBefore ? 520 : 320}>
      <Table verticalSpacing={6} captionSide="top" layout="fixed">
        <Table.Caption ta="start" mt={0}>
          {title}
        </Table.Caption>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('operator.audit.field')}</Table.Th>
            {hasBefore ? <Table.Th>{t('operator.audit.before')}</Table.Th> : null}
            <Table.Th>{t(hasBefore ? 'operator.audit.after' : 'operator.value')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ name, before, after }) => (
            <Table.Tr key={name}>
              <Table.Td className="wrap-anywhere">
                {fieldName(name)}
                <Text span display="block" size="xs" c="dimmed" ff="monospace">
                  {name}
                </Text>
              </Table.Td>
              {hasBefore ? <Table.Td className="wrap-anywhere">{shown(before)}</Table.Td> : null}
              <Table.Td className="wrap-anywhere">
                {after === 'changed' ? t('operator.audit.secret') : shown(after)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** Parses a change, which is stored as old and new, as from and to, or as the new value alone. */
function toSides(value: unknown): { before?: unknown; after: unknown } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { after: value };
  const { from, to, old, new: now, ...others } = value as Record<string, unknown>;
  if (Object.keys(others).length > 0) return { after: value };
  if (to !== undefined) return { before: from, after: to };
  return now === undefined ? { after: value } : { before: old, after: now };
}

function shown(value: unknown): ReactNode {
  if (value === undefined || value === null || value === '') return '–';
  if (typeof value === 'object') {
    const isList = Array.isArray(value) && value.every((one) => typeof one !== 'object');
    return isList ? value.join(', ') : <Code>{JSON.stringify(value)}</Code>;
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}
