import { Group, Select, Table, TextInput } from '@mantine/core';
import type { paths } from '../../../../client/src/index.ts';
import { useText } from '../../text/index.ts';

/** Preview of a file, as returned by the API. */
export type Preview = paths['/v1/contacts/import/preview']['post']['responses'][200]['content']['application/json'];

const TARGETS = [
  'ignore',
  'email',
  'first_name',
  'last_name',
  'company',
  'phone',
  'subscribed',
  'unsubscribed',
  'bounced',
  'categories',
  'custom',
] as const;

/** Target of a column in the file. */
export interface Column {
  index: number;
  target: string;
  custom_key?: string | undefined;
}

/** Returns the suggested target of each column, in the form that the table edits. */
export function suggestedMapping({ columns, suggested_mapping }: Preview): Column[] {
  return columns.map((_, index) => {
    const found = suggested_mapping.find((one) => one.index === index);
    if (!found) return { index, target: 'ignore' };
    return found.target.startsWith('custom:')
      ? { index, target: 'custom', custom_key: found.target.slice('custom:'.length) }
      : { index, target: found.target };
  });
}

/** Table of the file's columns with their targets and values of the first rows. */
export function ColumnTable({
  preview,
  mapping,
  onChange,
}: {
  preview: Preview;
  mapping: readonly Column[];
  onChange: (index: number, column: Partial<Column>) => void;
}) {
  const t = useText();
  return (
    <Table.ScrollContainer minWidth={640}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('leads.import.column')}</Table.Th>
            <Table.Th>{t('leads.import.becomes')}</Table.Th>
            <Table.Th>{t('leads.import.example')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {preview.columns.map((name, index) => (
            <Table.Tr key={index}>
              <Table.Td className="clip" maw={200} title={name}>
                {name || t('leads.import.column.nameless', { number: index + 1 })}
              </Table.Td>
              <Table.Td>
                <TargetFields name={name} column={mapping[index]!} onChange={(column) => onChange(index, column)} />
              </Table.Td>
              <Table.Td className="clip" maw={280} c="dimmed">
                {preview.sample_rows
                  .map((row) => row[index] ?? '')
                  .filter(Boolean)
                  .slice(0, 3)
                  .join(' · ')
                  .slice(0, 200)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** Inputs for the target of one column: a contact field, a custom field, or nothing. */
function TargetFields({
  name,
  column: { index, target, custom_key },
  onChange,
}: {
  name: string;
  column: Column;
  onChange: (column: Partial<Column>) => void;
}) {
  const t = useText();
  return (
    <Group gap="xs" wrap="nowrap">
      <Select
        aria-label={t('leads.import.becomes.of', { name: name || String(index + 1) })}
        data={TARGETS.map((value) => ({ value, label: t(`leads.target.${value}`) }))}
        value={target}
        onChange={(chosen) =>
          onChange({
            target: chosen ?? 'ignore',
            custom_key: chosen === 'custom' ? (custom_key ?? name) : undefined,
          })
        }
        allowDeselect={false}
        w={170}
      />
      {target === 'custom' ? (
        <TextInput
          aria-label={t('leads.import.custom', { name })}
          value={custom_key ?? ''}
          onChange={(event) => onChange({ custom_key: event.currentTarget.value })}
          w={150}
        />
      ) : null}
    </Group>
  );
}
