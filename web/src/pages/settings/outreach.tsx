import { useQuery } from '@tanstack/react-query';
import { dataOf, heron, queryClient } from '../../app/api.ts';
import { DraftForm } from '../../components/draft-form.tsx';
import { useDraft } from '../../components/draft.ts';
import { Section } from '../../components/section.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { textOf, useText } from '../../text/index.ts';
import { SettingsPage } from './frame.tsx';
import { FIELDS, type Block, type Settings } from './outreach-fields.ts';
import { SettingInput } from './setting-input.tsx';

type Values = Record<string, unknown> & { updated_at: string };
const queryKey = ['settings', 'outreach'] as const;

/**
 * Page of the workspace's outreach settings. They apply to every campaign that has no rule of its own. Each block is
 * saved separately.
 */
export default function OutreachPage() {
  const settings = useQuery({ queryKey, queryFn: readSettings });
  return (
    <SettingsPage>
      <Answered query={settings} skeleton={<ListSkeleton rows={5} height={130} />}>
        {(stored) =>
          (Object.keys(FIELDS) as Block[]).map((block) => <BlockForm key={block} block={block} stored={stored} />)
        }
      </Answered>
    </SettingsPage>
  );
}

const readSettings = () => dataOf(heron.GET('/v1/outreach/settings'));

// Drafts need `updated_at`, but these settings have no version, so it is constant. Changes by other people arrive as
// live events.
const valuesOf = (settings: Settings, block: Block): Values => ({ ...settings[block], updated_at: 'stored' });

function BlockForm({ block, stored }: { block: Block; stored: Settings }) {
  const t = useText();
  const fields = Object.entries(FIELDS[block]);
  const draft = useDraft<Values>({
    stored: valuesOf(stored, block),
    write: async ({ updated_at: _, ...changes }) => {
      // The API replaces all settings, so the change is sent together with all current values.
      const now = await readSettings();
      const settings = { ...now, [block]: { ...now[block], ...changes } };
      await dataOf(heron.PATCH('/v1/outreach/settings', { body: { settings } }));
      queryClient.setQueryData(queryKey, settings);
    },
    readAgain: async () => valuesOf(await readSettings(), block),
    stale: [queryKey],
    done: t('saved'),
  });
  return (
    <Section title={textOf('outreach', block)}>
      <DraftForm
        draft={draft}
        names={Object.fromEntries(fields.map(([field]) => [field, textOf('outreach', `${block}.${field}`)]))}
      >
        {fields.map(([field, kind]) => (
          <SettingInput
            key={field}
            name={`${block}.${field}`}
            kind={kind}
            value={draft.value[field]}
            onChange={(value) => draft.change({ [field]: value })}
          />
        ))}
      </DraftForm>
    </Section>
  );
}
