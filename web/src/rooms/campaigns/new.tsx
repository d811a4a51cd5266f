import { Paper, TextInput } from '@mantine/core';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useAct } from '../../parts/act.ts';
import { Form } from '../../parts/form.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo } from '../../parts/to.tsx';
import { useText } from '../../text/index.ts';

/** A new campaign begins with a name; everything else is on its page. It sends in the time zone of whoever makes it. */
export default function NewCampaignPage() {
  const t = useText();
  const go = useGo();
  const [name, setName] = useState('');
  const create = useAct(
    () =>
      dataOf(
        heron.POST('/v1/campaigns', {
          body: {
            name,
            sender_strategy: 'explicit',
            stop_on_reply: true,
            timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
            steps: [{ name: t('campaigns.firstStep'), subject: '', body_plain: '' }],
          },
        }),
      ),
    { stale: [['campaigns'], ['checklist']], isShown: true, onDone: ({ id }) => go(`/campaigns/${id}`) },
  );
  return (
    <Page
      title={t('campaigns.new')}
      lead={t('campaigns.new.lead')}
      back={{ to: '/campaigns', label: t('nav.campaigns') }}
    >
      <Paper withBorder radius="md" p="lg" maw={560}>
        <Form act={create} submit={t('campaigns.create')}>
          <TextInput
            label={t('campaigns.name')}
            required
            maxLength={200}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            placeholder={t('campaigns.name.example')}
          />
        </Form>
      </Paper>
    </Page>
  );
}
