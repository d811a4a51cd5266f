import { Alert, List, Table, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';
import { shownAddress } from '../../components/address.ts';
import { Section } from '../../components/section.tsx';
import { ErrorNote } from '../../components/states.tsx';
import { textOf, toNumber, useText } from '../../text/index.ts';
import type { Column, Preview } from './import-columns.tsx';
import { fileBody, type Reading } from './import-reading.tsx';

/** Time (ms) without a change after which the preview is fetched again. */
const PAUSE_MS = 500;

/** Previews the first rows with the chosen column mapping, and the rows that the import would skip. */
export function OutcomeOf({
  file,
  mapping,
  preview,
  reading,
}: {
  file: File;
  mapping: readonly Column[];
  preview: Preview;
  reading: Reading;
}) {
  const t = useText();
  const [settled] = useDebouncedValue(mapping, PAUSE_MS);
  const read = useQuery({
    queryKey: ['import-preview', file.name, file.lastModified, reading, settled],
    queryFn: () =>
      dataOf(
        heron.POST('/v1/contacts/import/preview', {
          body: {},
          bodySerializer: () =>
            fileBody(file, {
              ...reading,
              has_header: preview.has_header,
              skip_rows: preview.skip_rows,
              mapping: settled,
            }),
        }),
      ),
    placeholderData: keepPreviousData,
    retry: false,
  });
  const { stored_rows: rows, problems, unsubscribed_rows: unsubscribed } = read.data ?? preview;
  const isWhole = problems.length === 0 && unsubscribed === 0;
  return (
    <Section title={t('leads.import.outcome')}>
      <ErrorNote error={read.error} />
      {isWhole ? (
        <Text size="sm">{t('leads.import.outcome.whole')}</Text>
      ) : (
        <Alert role="note" color="yellow" variant="light" title={t('leads.import.outcome.lost')}>
          <List size="sm">
            {problems.map(({ reason, rows: count, first_line }) => (
              <List.Item key={reason}>
                {t('leads.import.outcome.rows', {
                  reason: textOf('leads.reason', reason),
                  count,
                  line: toNumber(first_line),
                })}
              </List.Item>
            ))}
            {unsubscribed > 0 ? (
              <List.Item>{t('leads.import.outcome.unsubscribed', { count: unsubscribed })}</List.Item>
            ) : null}
          </List>
        </Alert>
      )}
      <Table.ScrollContainer minWidth={640} mt="sm">
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('leads.imports.line')}</Table.Th>
              <Table.Th>{t('leads.target.email')}</Table.Th>
              <Table.Th>{t('leads.import.outcome.name')}</Table.Th>
              <Table.Th>{t('leads.target.company')}</Table.Th>
              <Table.Th>{t('leads.import.outcome.fields')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.slice(0, 10).map((row) => (
              <StoredRow key={row.line} row={row} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Section>
  );
}

function StoredRow({ row: { line, reason, contact } }: { row: Preview['stored_rows'][number] }) {
  const t = useText();
  if (!contact)
    return (
      <Table.Tr>
        <Table.Td>{toNumber(line)}</Table.Td>
        <Table.Td colSpan={4} c="dimmed">
          {t('leads.import.outcome.leftOut', { reason: reason ? textOf('leads.reason', reason) : '' })}
        </Table.Td>
      </Table.Tr>
    );
  const fields = Object.entries(contact.custom_fields).map(([key, value]) => `${key}: ${value}`);
  const state = contact.suppressed_as ?? (contact.subscribed ? null : 'unsubscribed');
  return (
    <Table.Tr>
      <Table.Td>{toNumber(line)}</Table.Td>
      <Table.Td className="clip" maw={240} title={contact.email}>
        {shownAddress(contact.email)}
        {state ? (
          <Text span inherit c="dimmed">
            {` · ${t(`leads.import.outcome.as.${state}`)}`}
          </Text>
        ) : null}
      </Table.Td>
      <Table.Td className="clip" maw={180}>
        {`${contact.first_name} ${contact.last_name}`.trim()}
      </Table.Td>
      <Table.Td className="clip" maw={180}>
        {contact.company}
      </Table.Td>
      <Table.Td className="clip" maw={280} c="dimmed" title={fields.join(' · ')}>
        {fields.join(' · ')}
      </Table.Td>
    </Table.Tr>
  );
}
