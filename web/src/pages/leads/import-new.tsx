import { Alert, Button, Group, Paper, Select, Stack, Switch, Text } from '@mantine/core';
import IconUpload from 'tabler:upload';
import { useRef, useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useCampaigns } from '../../components/choices.ts';
import { useAction } from '../../components/action.ts';
import { useFilter } from '../../components/filter.ts';
import { Page } from '../../components/page.tsx';
import { Section } from '../../components/section.tsx';
import { ErrorNote } from '../../components/states.tsx';
import { useGoTo } from '../../components/page-link.tsx';
import { toNumber, useText } from '../../text/index.ts';
import { ColumnTable, suggestedMapping, type Column, type Preview } from './import-columns.tsx';
import { OutcomeOf } from './import-outcome.tsx';
import { fileBody, ReadingFields, type Reading } from './import-reading.tsx';
import classes from './import.module.css';
import { TagsInput } from './tags.tsx';

/** Page that imports a file: the person checks its content, maps its columns, and chooses tags and a campaign. */
export default function NewImportPage() {
  const t = useText();
  const [file, setFile] = useState<File>();
  const [reading, setReading] = useState<Reading>({});
  const look = useAction(
    ({ chosen, read }: { chosen: File; read: Reading }) =>
      dataOf(heron.POST('/v1/contacts/import/preview', { body: {}, bodySerializer: () => fileBody(chosen, read) })),
    { isShown: true },
  );
  const choose = (chosen: File | undefined, read: Reading = {}) => {
    if (!chosen) return;
    setFile(chosen);
    setReading(read);
    look.mutate({ chosen, read });
  };
  return (
    <Page
      title={t('leads.import')}
      lead={t('leads.import.lead')}
      back={{ to: '/leads/imports', label: t('leads.imports') }}
    >
      <Drop onFile={choose} isLoading={look.isPending} filename={file?.name} />
      <ErrorNote error={look.error} />
      {file && look.data ? (
        <>
          <ReadingFields
            preview={look.data}
            reading={reading}
            onChange={(read) => choose(file, read)}
            isLoading={look.isPending}
          />
          <Mapping
            key={`${file.name} ${file.lastModified} ${JSON.stringify(reading)}`}
            file={file}
            preview={look.data}
            reading={reading}
          />
        </>
      ) : null}
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
        accept=".csv,.tsv,.txt,.xlsx,.ods,text/csv"
        hidden
        aria-label={t('leads.import.choose')}
        onChange={(event) => {
          onFile(event.currentTarget.files?.[0]);
          // Clears the field, so that the person can choose the same file again after correcting it.
          event.currentTarget.value = '';
        }}
      />
    </Paper>
  );
}

function Mapping({ file, preview, reading }: { file: File; preview: Preview; reading: Reading }) {
  const t = useText();
  const go = useGoTo();
  const [mapping, setMapping] = useState<Column[]>(() => suggestedMapping(preview));
  const [tags, setTags] = useState<string[]>([]);
  const [given] = useFilter('campaign');
  const [campaign, setCampaign] = useState<string | null>(given || null);
  const [isUpdating, setUpdating] = useState(true);
  const start = useAction(
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
              ...reading,
              has_header: preview.has_header,
              skip_rows: preview.skip_rows,
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
      <OutcomeOf file={file} mapping={mapping} preview={preview} reading={reading} />
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

/** Select for the campaign of the imported people; hidden if the role may not see campaigns. */
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
