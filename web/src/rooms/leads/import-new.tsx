import { Alert, Button, Group, Paper, Select, Stack, Switch, Table, Text, TextInput } from '@mantine/core';
import IconUpload from 'tabler:upload';
import { useRef, useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useCampaigns } from '../../parts/choices.ts';
import { useAct } from '../../parts/act.ts';
import { useFilter } from '../../parts/filter.ts';
import { Page } from '../../parts/page.tsx';
import { Section } from '../../parts/section.tsx';
import { ErrorNote } from '../../parts/states.tsx';
import { useGo } from '../../parts/to.tsx';
import { toNumber, useText } from '../../text/index.ts';
import classes from './import.module.css';
import { TagsInput } from './tags.tsx';

const TARGETS = [
  'ignore',
  'email',
  'first_name',
  'last_name',
  'company',
  'phone',
  'subscribed',
  'categories',
  'custom',
] as const;

interface Column {
  index: number;
  target: string;
  custom_key?: string | undefined;
}

/** A file as the API takes it. */
function fileBody(file: File, options?: object): FormData {
  const form = new FormData();
  form.set('file', file);
  if (options) form.set('options', JSON.stringify(options));
  return form;
}

/** Imports a CSV file: what is in it, what each column means, and where its people go. */
export default function NewImportPage() {
  const t = useText();
  const [file, setFile] = useState<File>();
  const look = useAct(
    (chosen: File) =>
      dataOf(heron.POST('/v1/contacts/import/preview', { body: {}, bodySerializer: () => fileBody(chosen) })),
    { isShown: true },
  );
  const choose = (chosen: File | undefined) => {
    if (!chosen) return;
    setFile(chosen);
    look.mutate(chosen);
  };
  return (
    <Page
      title={t('leads.import')}
      lead={t('leads.import.lead')}
      back={{ to: '/leads/imports', label: t('leads.imports') }}
    >
      <Drop onFile={choose} isLoading={look.isPending} filename={file?.name} />
      <ErrorNote error={look.error} />
      {file && look.data ? <Mapping key={`${file.name} ${file.lastModified}`} file={file} preview={look.data} /> : null}
    </Page>
  );
}

function Drop({
  onFile,
  isLoading,
  filename,
}: {
  onFile: (file: File | undefined) => void;
  isLoading: boolean;
  filename: string | undefined;
}) {
  const t = useText();
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  return (
    <Paper
      withBorder
      radius="md"
      p="lg"
      className={classes.drop}
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onFile(event.dataTransfer.files[0]);
      }}
    >
      <Group>
        <Button
          variant={filename ? 'default' : 'filled'}
          leftSection={<IconUpload size={16} />}
          onClick={() => input.current?.click()}
          loading={isLoading}
        >
          {t(filename ? 'leads.import.other' : 'leads.import.choose')}
        </Button>
        <Text size="sm" c="dimmed" className="wrap-anywhere">
          {filename ?? t('leads.import.drop')}
        </Text>
      </Group>
      <input
        ref={input}
        type="file"
        accept=".csv,.tsv,.txt,text/csv"
        hidden
        aria-label={t('leads.import.choose')}
        onChange={(event) => {
          onFile(event.currentTarget.files?.[0]);
          // The same file, corrected meanwhile, can be chosen again.
          event.currentTarget.value = '';
        }}
      />
    </Paper>
  );
}

interface Preview {
  total_rows: number;
  columns: string[];
  sample_rows: string[][];
  suggested_mapping: Column[];
  has_header: boolean;
  delimiter: string;
}

function Mapping({ file, preview }: { file: File; preview: Preview }) {
  const t = useText();
  const go = useGo();
  const [mapping, setMapping] = useState<Column[]>(() => suggestedMapping(preview));
  const [tags, setTags] = useState<string[]>([]);
  const [given] = useFilter('campaign');
  const [campaign, setCampaign] = useState<string | null>(given || null);
  const [isUpdating, setUpdating] = useState(true);
  const start = useAct(
    () =>
      dataOf(
        heron.POST('/v1/contacts/import', {
          body: {},
          bodySerializer: () =>
            fileBody(file, {
              mapping,
              categories: tags,
              ...(campaign ? { campaign_id: campaign } : {}),
              update_existing: isUpdating,
              has_header: preview.has_header,
              delimiter: preview.delimiter,
            }),
        }),
      ),
    { stale: [['imports'], ['checklist']], isShown: true, onDone: ({ id }) => go(`/leads/imports/${id}`) },
  );
  const change = (index: number, column: Partial<Column>) =>
    setMapping(mapping.map((before) => (before.index === index ? { ...before, ...column } : before)));
  const hasEmail = mapping.some(({ target }) => target === 'email');
  return (
    <>
      <Section title={t('leads.import.columns')}>
        <Text size="sm" c="dimmed" mb="sm">
          {t('leads.import.columns.why', { rows: toNumber(preview.total_rows), columns: preview.columns.length })}
        </Text>
        <ColumnTable preview={preview} mapping={mapping} onChange={change} />
      </Section>
      <Section title={t('leads.import.where')}>
        <Stack maw={520}>
          <TagsInput label={t('leads.tags')} description={t('leads.import.tags.why')} value={tags} onChange={setTags} />
          <CampaignSelect value={campaign} onChange={setCampaign} />
          <Switch
            label={t('leads.import.update')}
            description={t('leads.import.update.why')}
            checked={isUpdating}
            onChange={(event) => setUpdating(event.currentTarget.checked)}
          />
        </Stack>
      </Section>
      {hasEmail ? null : (
        <Alert color="yellow" variant="light" role="note">
          {t('leads.import.noEmail')}
        </Alert>
      )}
      <ErrorNote error={start.error} />
      <Group justify="flex-end">
        <Button onClick={() => start.mutate()} loading={start.isPending} disabled={!hasEmail}>
          {t('leads.import.do', { count: preview.total_rows })}
        </Button>
      </Group>
    </>
  );
}

/** What the API takes each column for, as the form shows it. */
function suggestedMapping({ columns, suggested_mapping }: Preview): Column[] {
  return columns.map((_, index) => {
    const found = suggested_mapping.find((one) => one.index === index);
    if (!found) return { index, target: 'ignore' };
    return found.target.startsWith('custom:')
      ? { index, target: 'custom', custom_key: found.target.slice('custom:'.length) }
      : { index, target: found.target };
  });
}

/** The columns of the file, what each becomes, and values of its first rows. */
function ColumnTable({
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

/** What one column becomes: a field of contacts, one of the workspace's own, or nothing. */
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

/** The campaign that the people of the file become leads of; nothing for who may not see campaigns. */
function CampaignSelect({ value, onChange }: { value: string | null; onChange: (id: string | null) => void }) {
  const t = useText();
  const maySeeCampaigns = useCan('view_campaigns');
  const campaigns = useCampaigns(maySeeCampaigns);
  if (!maySeeCampaigns) return null;
  return (
    <Select
      label={t('leads.import.campaign')}
      description={t('leads.import.campaign.why')}
      data={(campaigns.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
      value={value}
      onChange={onChange}
      searchable
      clearable
    />
  );
}
