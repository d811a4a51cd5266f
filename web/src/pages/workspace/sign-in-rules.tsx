import { Alert, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { DraftForm } from '../../components/draft-form.tsx';
import { useDraft } from '../../components/draft.ts';
import { Section } from '../../components/section.tsx';
import { useText } from '../../text/index.ts';

type Workspace = AnswerOf<'/v1/organizations/current'>;
type Edited = Pick<Workspace, 'member_email_domains' | 'session_max_hours' | 'updated_at'>;
const editedOf = ({ member_email_domains, session_max_hours, updated_at }: Workspace): Edited => ({
  member_email_domains,
  session_max_hours,
  updated_at,
});

/** Rules about the email domains of members, and about the duration of a sign-in. */
export function SignInRules({ workspace }: { workspace: Workspace }) {
  const t = useText();
  const draft = useDraft<Edited>({
    stored: editedOf(workspace),
    write: ({ updated_at: _, ...changes }, { updated_at: expected_updated_at }) =>
      dataOf(heron.PATCH('/v1/organizations/current', { body: { ...changes, expected_updated_at } })),
    readAgain: async () => editedOf(await dataOf(heron.GET('/v1/organizations/current'))),
    stale: [['person'], ['team']],
    done: t('saved'),
  });
  const { value, change } = draft;
  const [typed, setTyped] = useState('');
  // Shows the typed text, unless the domains were changed elsewhere.
  const isTyped = domainsIn(typed).join() === value.member_email_domains.join();
  return (
    <Section title={t('workspace.rules')}>
      <DraftForm
        draft={draft}
        names={{ member_email_domains: t('workspace.rules.domains'), session_max_hours: t('workspace.rules.hours') }}
        note={<Outsiders domains={workspace.member_email_domains} />}
      >
        <TextInput
          label={t('workspace.rules.domains')}
          description={t('workspace.rules.domains.why')}
          placeholder={t('workspace.rules.domains.any')}
          value={isTyped ? typed : value.member_email_domains.join(', ')}
          onChange={({ currentTarget: { value: text } }) => {
            setTyped(text);
            change({ member_email_domains: domainsIn(text) });
          }}
        />
        <TextInput
          type="number"
          label={t('workspace.rules.hours')}
          description={t('workspace.rules.hours.why')}
          placeholder={t('workspace.rules.hours.any')}
          min={1}
          max={8760}
          step={1}
          value={value.session_max_hours ?? ''}
          onChange={({ currentTarget: { value: hours } }) =>
            change({ session_max_hours: hours === '' ? null : Number(hours) })
          }
        />
      </DraftForm>
    </Section>
  );
}

const domainsIn = (text: string): string[] => text.split(/[\s,;]+/).filter(Boolean);

/** Names the members whose addresses are in none of the stored domains. */
function Outsiders({ domains }: { domains: readonly string[] }) {
  const t = useText();
  const members = useQuery({
    queryKey: ['team', 'outside', domains],
    queryFn: () =>
      dataOf(
        heron.GET('/v1/organizations/current/members', { params: { query: { outside_domains: 'true', limit: 100 } } }),
      ),
    enabled: domains.length > 0,
  });
  const outside = domains.length > 0 ? (members.data?.data ?? []) : [];
  if (outside.length === 0) return null;
  return (
    <Alert role="note" color="yellow" variant="light" title={t('workspace.rules.outside', { count: outside.length })}>
      {outside.map(({ email }) => email).join(', ')}
    </Alert>
  );
}
