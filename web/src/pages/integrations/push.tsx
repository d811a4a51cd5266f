import { Alert, List, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { choicesOf, useCampaigns, useTags } from '../../components/choices.ts';
import { ContactSelect } from '../../components/contact-select.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Form } from '../../components/form.tsx';
import { useText } from '../../text/index.ts';

const WHO = ['one', 'tag', 'campaign', 'all'] as const;
/** Maximum number of refused contacts listed in the result. */
const MAX_NAMED = 20;

/** Dialog that writes chosen contacts to a CRM at once and shows the error of each contact that failed. */
export default function Push({ id, name, onClose }: { id: string; name: string; onClose: () => void }) {
  const t = useText();
  const [who, setWho] = useState<(typeof WHO)[number]>('one');
  const [of, setOf] = useState<string | null>(null);
  const tags = useTags(who === 'tag');
  const campaigns = useCampaigns(who === 'campaign');
  const push = useAction(
    () =>
      dataOf(
        heron.POST('/v1/integrations/connections/{id}/push', {
          params: { path: { id } },
          body: {
            one: { contact_ids: of ? [of] : [] },
            tag: { all: true, filters: { category_ids: of ? [of] : [] } },
            campaign: { all: true, filters: { campaign_ids: of ? [of] : [] } },
            all: { all: true },
          }[who],
        }),
      ),
    { stale: [['integrations', id]], isShown: true },
  );
  return (
    <Dialog onClose={onClose} title={t('integrations.push.to', { name })}>
      <Form act={push} submit={t('integrations.push')}>
        <Text size="sm" c="dimmed">
          {t('integrations.push.why')}
        </Text>
        <Select
          label={t('integrations.push.who')}
          data={WHO.map((value) => ({ value, label: t(`integrations.push.${value}`) }))}
          value={who}
          onChange={(value) => {
            setWho(WHO.find((one) => one === value) ?? 'one');
            setOf(null);
          }}
          allowDeselect={false}
        />
        {who === 'one' ? (
          <ContactSelect label={t('integrations.push.contact')} value={of} onChange={setOf} />
        ) : who === 'all' ? null : (
          <Select
            label={t(who === 'tag' ? 'integrations.push.tag.which' : 'integrations.push.campaign.which')}
            data={who === 'tag' ? (tags.data ?? []) : choicesOf(campaigns.data?.data ?? [])}
            value={of}
            onChange={setOf}
            nothingFoundMessage={t('nothingFound')}
            searchable
            required
          />
        )}
        {push.data ? <Result pushed={push.data} /> : null}
      </Form>
    </Dialog>
  );
}

interface Pushed {
  pushed: number;
  results: readonly { contact_id: string; email?: string; ok: boolean; error?: string }[];
}

function Result({ pushed: { pushed, results } }: { pushed: Pushed }) {
  const t = useText();
  const failed = results.filter(({ ok }) => !ok);
  return (
    <Alert
      color={failed.length > 0 ? 'yellow' : 'teal'}
      variant="light"
      role="status"
      title={t('integrations.push.done', { count: pushed })}
    >
      {failed.length > 0 ? (
        <Stack gap="xs">
          <Text size="sm">{t('integrations.push.failed', { count: failed.length })}</Text>
          <List size="sm">
            {failed.slice(0, MAX_NAMED).map(({ contact_id: contact, email, error }) => (
              <List.Item key={contact} className="wrap-anywhere">
                {[email ?? contact, error].filter(Boolean).join(': ')}
              </List.Item>
            ))}
          </List>
        </Stack>
      ) : null}
    </Alert>
  );
}
