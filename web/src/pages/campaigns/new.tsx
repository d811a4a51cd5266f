import { Paper, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, queryClient } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { Form } from '../../components/form.tsx';
import { Page } from '../../components/page.tsx';
import { useGoTo } from '../../components/page-link.tsx';
import { useText } from '../../text/index.ts';
import { onlySenderOf } from './only-sender.ts';

/** Query of the workspace's only mailbox that can send; null if there are none or several. */
const onlySender = {
  queryKey: ['mailboxes', 'only-sender'],
  queryFn: async () => {
    const { data } = await dataOf(heron.GET('/v1/emails', { params: { query: { limit: 100 } } }));
    return onlySenderOf(data) ?? null;
  },
} as const;

/**
 * Page that creates a campaign from a name. The campaign gets the creator's time zone and, if only one mailbox can
 * send, that sender.
 */
export default function NewCampaignPage() {
  const t = useText();
  const go = useGoTo();
  const [name, setName] = useState('');
  const only = useQuery(onlySender);
  const create = useAction(
    async () => {
      // Waits for the mailbox query if it is still pending. On an error the campaign is created without a sender.
      const sender = await queryClient.ensureQueryData(onlySender).catch(() => null);
      return dataOf(
        heron.POST('/v1/campaigns', {
          body: {
            name,
            sender_strategy: 'explicit',
            senders: sender ? [{ email_account_id: sender.id }] : [],
            stop_on_reply: true,
            timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
            steps: [{ name: t('campaigns.firstStep'), subject: '', body_plain: '' }],
          },
        }),
      );
    },
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
          {only.data === undefined ? null : (
            <Text size="sm" c="dimmed" className="wrap-anywhere">
              {only.data ? t('campaigns.new.sender', { email: only.data.email }) : t('campaigns.new.senders')}
            </Text>
          )}
        </Form>
      </Paper>
    </Page>
  );
}
