import { MultiSelect, SegmentedControl, Text } from '@mantine/core';
import { useState } from 'react';
import { dataOf, heron, type BodyOf } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { daysAgo } from '../../components/day.ts';
import { Dialog } from '../../components/dialog.tsx';
import { saveAs } from '../../components/download.ts';
import { Form } from '../../components/form.tsx';
import { useText } from '../../text/index.ts';

type Body = BodyOf<'/v1/contacts/export', 'post'>;

/** Columns of an export in the order of the file; custom fields follow if no columns are chosen. */
const COLUMNS = [
  'id',
  'email',
  'first_name',
  'last_name',
  'company',
  'phone',
  'subscribed',
  'verification_status',
  'categories',
  'campaigns',
  'created_at',
  'updated_at',
] as const;

/** Dialog that exports the contacts of a filter as a file, or all contacts. */
export default function ExportContacts({
  filters,
  isNarrow,
  onClose,
}: {
  filters: NonNullable<Body['filters']>;
  /** True if the filter excludes some contacts. */
  isNarrow: boolean;
  onClose: () => void;
}) {
  const t = useText();
  const [format, setFormat] = useState<Body['format']>('csv');
  const [fields, setFields] = useState<string[]>([]);
  const save = useAction(
    () =>
      dataOf(
        heron.POST('/v1/contacts/export', {
          body: {
            format,
            ...(isNarrow ? { scope: 'filtered' as const, filters } : { scope: 'all' as const }),
            ...(fields.length > 0 ? { fields } : {}),
          },
          parseAs: 'blob',
        }),
      ),
    {
      isShown: true,
      onDone: (file) => {
        saveAs(file as unknown as Blob, `contacts-${daysAgo(0)}.${format}`);
        onClose();
      },
    },
  );
  return (
    <Dialog onClose={onClose} title={t('leads.export.title')}>
      <Form act={save} submit={t('leads.export')}>
        <Text size="sm">{t(isNarrow ? 'leads.export.filtered' : 'leads.export.all')}</Text>
        <SegmentedControl
          aria-label={t('leads.export.format')}
          value={format}
          onChange={(value) => setFormat(value as Body['format'])}
          data={[
            { value: 'csv', label: 'CSV' },
            { value: 'json', label: 'JSON' },
          ]}
        />
        <MultiSelect
          label={t('leads.export.columns')}
          description={t('leads.export.columns.why')}
          data={COLUMNS.map((value) => ({ value, label: t(`leads.export.column.${value}`) }))}
          value={fields}
          onChange={setFields}
          placeholder={fields.length === 0 ? t('leads.export.columns.all') : ''}
          clearable
        />
      </Form>
    </Dialog>
  );
}
