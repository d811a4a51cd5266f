import { Group, NumberInput, Select, Text } from '@mantine/core';
import { Section } from '../../components/section.tsx';
import { toPercent, useText } from '../../text/index.ts';
import type { Preview } from './import-columns.tsx';

/** Encodings that people can choose: all that the API accepts. */
const ENCODINGS = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  'utf-32le',
  'utf-32be',
  'windows-1250',
  'windows-1251',
  'windows-1252',
  'windows-1253',
  'windows-1254',
  'windows-1255',
  'windows-1256',
  'windows-1257',
  'windows-1258',
  'windows-874',
  'iso-8859-2',
  'iso-8859-5',
  'iso-8859-7',
  'iso-8859-15',
  'koi8-r',
  'koi8-u',
  'ibm866',
  'cp437',
  'cp850',
  'cp852',
  'macintosh',
  'shift_jis',
  'euc-jp',
  'gb18030',
  'big5',
  'euc-kr',
];

/** Options chosen by the person for parsing a file; the API detects the rest. */
export interface Reading {
  encoding?: string;
  skip_rows?: number;
  sheet?: string;
}

/** Builds the form data of a file for the API. */
export function fileBody(file: File, options?: object): FormData {
  const form = new FormData();
  form.set('file', file);
  if (options) form.set('options', JSON.stringify(options));
  return form;
}

/** Parsing options for a file that was read wrongly: encoding, lines above the header, and the sheet of a workbook. */
export function ReadingFields({
  preview,
  reading,
  onChange,
  isLoading,
}: {
  preview: Preview;
  reading: Reading;
  onChange: (reading: Reading) => void;
  isLoading: boolean;
}) {
  const t = useText();
  return (
    <Section title={t('leads.import.reading')}>
      <Group align="flex-start" gap="md">
        {preview.format === 'csv' ? (
          <Select
            label={t('leads.import.encoding')}
            description={
              reading.encoding
                ? t('leads.import.encoding.chosen')
                : t('leads.import.encoding.sure', { share: toPercent(preview.encoding_confidence) })
            }
            data={[...new Set([...ENCODINGS, preview.encoding])]}
            value={preview.encoding}
            onChange={(encoding) => encoding && onChange({ ...reading, encoding })}
            disabled={isLoading}
            searchable
            allowDeselect={false}
          />
        ) : (
          <Select
            label={t('leads.import.sheet')}
            description={t('leads.import.sheet.why')}
            data={preview.sheets}
            value={preview.sheet}
            onChange={(sheet) => sheet && onChange({ sheet })}
            disabled={isLoading}
            allowDeselect={false}
          />
        )}
        <NumberInput
          label={t('leads.import.skip')}
          description={t('leads.import.skip.why')}
          value={preview.skip_rows}
          onBlur={(event) => {
            const skip_rows = Number(event.currentTarget.value);
            if (skip_rows !== preview.skip_rows) onChange({ ...reading, skip_rows });
          }}
          min={0}
          max={10_000}
          allowDecimal={false}
          disabled={isLoading}
          w={200}
        />
      </Group>
      {preview.format === 'csv' && preview.encoding_confidence < 0.8 ? (
        <Text size="sm" mt="sm" c="dimmed">
          {t('leads.import.encoding.unsure')}
        </Text>
      ) : null}
    </Section>
  );
}
