import { Select, SimpleGrid, TextInput } from '@mantine/core';
import { Suspense } from 'react';
import { lazyPart } from '../../app/lazy-part.ts';
import { LANGUAGES, type Language } from '../../../../messages/languages.ts';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { usePerson } from '../../app/person.ts';
import { DraftForm } from '../../components/draft-form.tsx';
import { useDraft } from '../../components/draft.ts';
import { Section } from '../../components/section.tsx';
import { useText } from '../../text/index.ts';
import { SettingsPage } from './frame.tsx';
import { Password } from './password.tsx';
import { Sessions } from './sessions.tsx';

const DeleteAccount = lazyPart('workspace', () => import('../workspace/delete-account.tsx'));

type Profile = Pick<AnswerOf<'/v1/auth/me'>, 'first_name' | 'last_name' | 'language' | 'updated_at'>;
const profileOf = ({ first_name, last_name, language, updated_at }: Profile): Profile => ({
  first_name,
  last_name,
  language,
  updated_at,
});

/** Page of the signed-in person: name, language of emails, password and sessions. */
export default function ProfilePage() {
  return (
    <SettingsPage>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Name />
        <Password />
      </SimpleGrid>
      <Sessions />
      <Suspense>
        <DeleteAccount />
      </Suspense>
    </SettingsPage>
  );
}

function Name() {
  const t = useText();
  const { person } = usePerson();
  const draft = useDraft<Profile>({
    stored: profileOf(person),
    write: ({ updated_at: _, language, ...names }) =>
      dataOf(
        heron.PATCH('/v1/auth/me', { body: { ...names, ...(language ? { language: language as Language } : {}) } }),
      ),
    readAgain: async () => profileOf(await dataOf(heron.GET('/v1/auth/me'))),
    stale: [['person'], ['team']],
    done: t('saved'),
  });
  const { value, change } = draft;
  return (
    <Section title={t('settings.profile')}>
      <DraftForm
        draft={draft}
        names={{
          first_name: t('settings.firstName'),
          last_name: t('settings.lastName'),
          language: t('settings.language'),
        }}
      >
        <TextInput label={t('team.email')} value={person.email} readOnly description={t('settings.email.why')} />
        <TextInput
          label={t('settings.firstName')}
          autoComplete="given-name"
          maxLength={100}
          value={value.first_name}
          onChange={(event) => change({ first_name: event.currentTarget.value })}
        />
        <TextInput
          label={t('settings.lastName')}
          autoComplete="family-name"
          maxLength={100}
          value={value.last_name}
          onChange={(event) => change({ last_name: event.currentTarget.value })}
        />
        <Select
          label={t('settings.language')}
          description={t('settings.language.why')}
          placeholder={t('settings.language.none')}
          data={LANGUAGES.map((one) => ({
            value: one,
            label: new Intl.DisplayNames(one, { type: 'language' }).of(one) ?? one,
          }))}
          value={value.language}
          onChange={(language) => change({ language })}
          allowDeselect={false}
        />
      </DraftForm>
    </Section>
  );
}
