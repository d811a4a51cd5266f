import { MultiSelect, Radio, Select, Stack, Switch, TagsInput, TextInput } from '@mantine/core';
import { textOf, useText } from '../../text/index.ts';
import { INTENTS, type Kind } from './outreach-fields.ts';
import { zoneChoices } from './zones.ts';

const HOURS = Array.from({ length: 24 }, (_, hour) => ({
  value: String(hour),
  label: `${String(hour).padStart(2, '0')}:00`,
}));

/** Input for one outreach setting. Its label and help are texts whose keys contain its name. */
export function SettingInput({
  name,
  kind,
  value,
  onChange,
}: {
  /** Block and field, such as `inbox.keep_sent_days`. */
  name: string;
  kind: Kind;
  value: unknown;
  onChange: (value: unknown) => void;
}) {
  const t = useText();
  const why = textOf('outreach', `${name}.why`, '');
  const shared = { label: textOf('outreach', name), ...(why ? { description: why } : {}) };
  const list = Array.isArray(value) ? value.map(String) : [];
  const written = typeof value === 'string' ? value : '';
  if (kind === 'switch')
    return <Switch {...shared} checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />;
  if (kind === 'line')
    return (
      <TextInput
        {...shared}
        maxLength={300}
        value={written}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  if (kind === 'words')
    return (
      <TagsInput
        {...shared}
        placeholder={list.length === 0 ? t('outreach.words.builtIn') : ''}
        value={list}
        onChange={onChange}
        maxTags={500}
        clearable
      />
    );
  if (kind === 'intents' || kind === 'hours')
    return (
      <MultiSelect
        {...shared}
        data={kind === 'hours' ? HOURS : INTENTS.map((one) => ({ value: one, label: textOf('outreach.intent', one) }))}
        value={list}
        onChange={(chosen) => onChange(kind === 'hours' ? chosen.map(Number).toSorted((a, b) => a - b) : chosen)}
      />
    );
  if (kind === 'zone')
    return (
      <Select
        {...shared}
        data={zoneChoices(written)}
        value={written}
        onChange={(zone) => onChange(zone ?? written)}
        allowDeselect={false}
        searchable
        limit={200}
        nothingFoundMessage={t('nothingFound')}
      />
    );
  if (typeof kind === 'object' && 'choices' in kind)
    return (
      <Radio.Group {...shared} value={written} onChange={onChange}>
        <Stack gap="xs" mt="xs">
          {kind.choices.map((one) => {
            const means = textOf('outreach', `${name}.${one}.why`, '');
            return (
              <Radio
                key={one}
                value={one}
                label={textOf('outreach', `${name}.${one}`)}
                {...(means ? { description: means } : {})}
              />
            );
          })}
        </Stack>
      </Radio.Group>
    );
  const [least, most] = kind === 'percent' ? [0, 100] : [kind.least, kind.most];
  // Native number input, because Mantine's adds nine kilobytes of code.
  return (
    <TextInput
      {...shared}
      type="number"
      required
      withAsterisk={false}
      styles={{ wrapper: { maxWidth: 260 } }}
      min={least}
      max={most}
      step="any"
      rightSection={kind === 'percent' ? '%' : null}
      value={typeof value === 'number' ? value : ''}
      onChange={({ currentTarget: { valueAsNumber: number } }) => onChange(Number.isNaN(number) ? undefined : number)}
    />
  );
}
