import { Checkbox, Select, TextInput } from '@mantine/core';
import { Suspense } from 'react';
import { lazyPart } from '../../app/lazy-part.ts';
import { LANGUAGES, type Language } from '../../../../messages/languages.ts';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useCan, usePerson } from '../../app/person.ts';
import { DraftForm } from '../../components/draft-form.tsx';
import { useDraft } from '../../components/draft.ts';
import { Facts } from '../../components/facts.tsx';
import { Section } from '../../components/section.tsx';
import { toDateTime } from '../../components/time.tsx';
import { textOf, useText } from '../../text/index.ts';
import { SettingsPage } from './frame.tsx';
import { zoneChoices } from './zones.ts';

const Sections = lazyPart('workspace', () => import('../workspace/sections.tsx'));

type Workspace = AnswerOf<'/v1/organizations/current'>;
type Edited = Pick<Workspace, 'name' | 'timezone' | 'language' | 'weekly_report' | 'updated_at'>;
const editedOf = ({ name, timezone, language, weekly_report, updated_at }: Workspace): Edited => ({
  name,
  timezone,
  language,
  weekly_report,
  updated_at,
});

/**
 * Page of the selected workspace: name, logo, time zone, language, weekly report, sign-in rules and its data. Another
 * workspace can be created here.
 */
export default function WorkspacePage() {
  const { workspace } = usePerson();
  const mayChange = useCan('manage_settings');
  return (
    <SettingsPage>
      {workspace && mayChange ? <Edit workspace={workspace} /> : null}
      {workspace ? <About workspace={workspace} /> : null}
      <Suspense>
        <Sections workspace={workspace} mayChange={mayChange} />
      </Suspense>
    </SettingsPage>
  );
}

function Edit({ workspace }: { workspace: Workspace }) {
  const t = useText();
  const draft = useDraft<Edited>({
    stored: editedOf(workspace),
    write: ({ updated_at: _, ...changes }, { updated_at: expected_updated_at }) =>
      dataOf(heron.PATCH('/v1/organizations/current', { body: { ...changes, expected_updated_at } })),
    readAgain: async () => editedOf(await dataOf(heron.GET('/v1/organizations/current'))),
    stale: [['person']],
    done: t('saved'),
  });
  const { value, change } = draft;
  return (
    <Section title={t('settings.workspace')}>
      <DraftForm
        draft={draft}
        names={{
          timezone: t('settings.zone'),
          language: t('settings.workspace.language'),
          weekly_report: t('settings.weekly'),
        }}
      >
        <TextInput
          label={t('settings.name')}
          required
          maxLength={200}
          value={value.name}
          onChange={(event) => change({ name: event.currentTarget.value })}
        />
        <Select
          label={t('settings.zone')}
          description={t('settings.zone.why')}
          data={zoneChoices(value.timezone)}
          value={value.timezone}
          onChange={(timezone) => change({ timezone: timezone ?? value.timezone })}
          allowDeselect={false}
          searchable
          limit={200}
          nothingFoundMessage={t('nothingFound')}
        />
        <Select
          label={t('settings.workspace.language')}
          description={t('settings.workspace.language.why')}
          placeholder={t('settings.workspace.language.none')}
          data={LANGUAGES.map((one) => ({
            value: one,
            label: new Intl.DisplayNames(one, { type: 'language' }).of(one) ?? one,
          }))}
          value={value.language}
          onChange={(language) => change({ language: language as Language | null })}
          clearable
        />
        <Checkbox
          label={t('settings.weekly')}
          description={t('settings.weekly.why')}
          checked={value.weekly_report}
          onChange={(event) => change({ weekly_report: event.currentTarget.checked })}
        />
      </DraftForm>
    </Section>
  );
}

function About({ workspace }: { workspace: Workspace }) {
  const t = useText();
  return (
    <Section title={t('settings.about')}>
      <Facts
        rows={[
          [t('settings.id'), workspace.id],
          [t('settings.plan'), t(`settings.plan.${workspace.plan}`)],
          [t('settings.role.yours'), textOf('role', workspace.role.name)],
          [t('settings.created'), toDateTime(workspace.created_at)],
        ]}
      />
    </Section>
  );
}
