import { Alert, MultiSelect, NumberInput, SegmentedControl, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron, queryClient, type AnswerOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { DraftFoot } from '../../components/draft-form.tsx';
import { useDraft } from '../../components/draft.ts';
import { Section } from '../../components/section.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { useText } from '../../text/index.ts';
import type { Campaign } from './flow.ts';
import { onlySenderOf } from './only-sender.ts';

interface Pool {
  strategy: Campaign['sender_strategy'];
  tags: string[];
  senders: { email_account_id: string; weight: number; enabled: boolean }[];
  updated_at: string;
}
type Chosen = AnswerOf<'/v1/campaigns/{id}/senders'>;
/** Data that the page loads from the API. */
interface Known {
  chosen: Chosen;
}

/** Combines the two answers of the API about the pool. The result has the older of their `updated_at`. */
function poolOf(campaign: Pick<Campaign, 'sender_strategy' | 'email_tags' | 'updated_at'>, chosen: Chosen): Pool {
  return {
    strategy: campaign.sender_strategy,
    tags: campaign.email_tags,
    senders: chosen.data.map(({ email_account_id, weight, enabled }) => ({ email_account_id, weight, enabled })),
    updated_at: campaign.updated_at < chosen.updated_at ? campaign.updated_at : chosen.updated_at,
  };
}

/**
 * Editor of a campaign's senders: individual mailboxes or all with a tag. They are saved together, so that a running
 * campaign changes once.
 */
export default function Senders({ campaign }: { campaign: Campaign }) {
  const t = useText();
  const { id } = campaign;
  const known = useQuery({
    queryKey: ['campaigns', id, 'senders'],
    queryFn: async () => {
      const [chosen, mailboxes, tags] = await Promise.all([
        dataOf(heron.GET('/v1/campaigns/{id}/senders', { params: { path: { id } } })),
        dataOf(heron.GET('/v1/emails', { params: { query: { limit: 100 } } })),
        dataOf(heron.GET('/v1/tags', {})),
      ]);
      return { chosen, mailboxes: mailboxes.data, tags: tags.data };
    },
  });
  return (
    <Section title={t('campaign.senders')}>
      <Answered query={known} skeleton={<ListSkeleton rows={2} />}>
        {({ chosen, mailboxes, tags }) => (
          <PoolFields
            campaign={campaign}
            stored={poolOf(campaign, chosen)}
            only={onlySenderOf(mailboxes)?.id}
            mailboxes={mailboxes.map((one) => ({ value: one.id, label: one.email }))}
            tags={tags.map((one) => ({ value: one.id, label: one.title }))}
          />
        )}
      </Answered>
    </Section>
  );
}

function PoolFields({
  campaign,
  stored,
  only,
  mailboxes,
  tags,
}: {
  campaign: Campaign;
  stored: Pool;
  /** Id of the workspace's only mailbox that can send; undefined if there are none or several. */
  only: string | undefined;
  mailboxes: { value: string; label: string }[];
  tags: { value: string; label: string }[];
}) {
  const t = useText();
  const may = useCan('manage_campaigns');
  // A draft without a sender gets the only available mailbox when it is saved.
  const isChosen =
    may && only && campaign.status === 'draft' && stored.strategy === 'explicit' && stored.senders.length === 0;
  const { id } = campaign;
  const path = { params: { path: { id } } };
  const draft = useDraft<Pool>({
    stored,
    write: async ({ senders, strategy, tags: chosenTags }, seen) => {
      let expected_updated_at = seen.updated_at;
      if (senders)
        ({ updated_at: expected_updated_at } = await dataOf(
          heron.PUT('/v1/campaigns/{id}/senders', { ...path, body: { senders, expected_updated_at } }),
        ));
      if (strategy || chosenTags)
        await dataOf(
          heron.PATCH('/v1/campaigns/{id}', {
            ...path,
            body: {
              ...(strategy ? { sender_strategy: strategy } : {}),
              ...(chosenTags ? { email_tags: chosenTags } : {}),
              expected_updated_at,
            },
          }),
        );
      await readPool(id);
    },
    readAgain: () => readPool(id),
    stale: [['campaigns'], ['checklist']],
    done: t('saved'),
    first: isChosen ? { senders: [{ email_account_id: only, weight: 1, enabled: true }] } : {},
  });
  const { value: pool, change, isChanged } = draft;
  const isExplicit = pool.strategy === 'explicit';
  return (
    <Stack gap="md" maw={640}>
      <SegmentedControl
        className="campaign-choice"
        aria-label={t('campaign.senders.how')}
        value={pool.strategy}
        onChange={(strategy) => change({ strategy: strategy as Pool['strategy'] })}
        disabled={!may}
        data={[
          { value: 'explicit', label: t('campaign.senders.explicit') },
          { value: 'tags', label: t('campaign.senders.tags') },
        ]}
      />
      {isExplicit ? (
        <>
          <MultiSelect
            label={t('campaign.senders')}
            description={t('campaign.senders.why')}
            data={mailboxes}
            value={pool.senders.map((one) => one.email_account_id)}
            onChange={(ids) =>
              change({
                // Sorts the ids as the API does, so that equal lists compare as equal.
                senders: ids.toSorted().map(
                  (email_account_id) =>
                    pool.senders.find((one) => one.email_account_id === email_account_id) ?? {
                      email_account_id,
                      weight: 1,
                      enabled: true,
                    },
                ),
              })
            }
            disabled={!may}
            searchable
            nothingFoundMessage={t('mailboxes.empty')}
          />
          {pool.senders.length > 1 ? (
            <Shares
              senders={pool.senders}
              mailboxes={mailboxes}
              may={may}
              onChange={(senders) => change({ senders })}
            />
          ) : null}
        </>
      ) : (
        <MultiSelect
          label={t('campaign.senders.tags')}
          description={t('campaign.senders.tags.why')}
          data={tags}
          value={pool.tags}
          onChange={(chosen) => change({ tags: chosen })}
          disabled={!may}
          searchable
          nothingFoundMessage={t('campaign.senders.tags.none')}
        />
      )}
      {isChosen && pool.senders.length === 1 && pool.senders[0]!.email_account_id === only ? (
        <Text size="sm" role="status">
          {t('campaign.senders.only')}
        </Text>
      ) : null}
      {mailboxes.length === 0 ? (
        <Text size="sm">
          <PageLink to="/mailboxes/new" size="sm">
            {t('campaign.senders.connect')}
          </PageLink>
        </Text>
      ) : null}
      {may ? (
        <DraftFoot
          draft={draft}
          names={{
            strategy: t('campaign.senders.how'),
            tags: t('campaign.senders.tags'),
            senders: t('campaign.senders'),
          }}
          say={{
            strategy: (strategy) => t(`campaign.senders.${strategy}`),
            tags: (ids) => ids.map((one) => tags.find(({ value }) => value === one)?.label ?? '').join('\n'),
            senders: (rows) =>
              rows
                .map(({ email_account_id, weight }) => {
                  const name = mailboxes.find(({ value }) => value === email_account_id)?.label ?? '';
                  return rows.length > 1 ? `${name} × ${weight}` : name;
                })
                .join('\n'),
          }}
          note={
            campaign.status === 'active' && isChanged ? (
              <Alert color="yellow" variant="light" role="note" title={t('campaign.running.title')}>
                {t(isExplicit && pool.senders.length === 0 ? 'campaign.running.noSenders' : 'campaign.running.senders')}
              </Alert>
            ) : null
          }
        />
      ) : null}
    </Stack>
  );
}

/** Fetches the stored pool and updates the page with it. */
async function readPool(id: string): Promise<Pool> {
  const path = { params: { path: { id } } };
  const [chosen, campaign] = await Promise.all([
    dataOf(heron.GET('/v1/campaigns/{id}/senders', path)),
    dataOf(heron.GET('/v1/campaigns/{id}', path)),
  ]);
  queryClient.setQueryData(['campaigns', id], campaign);
  queryClient.setQueryData<Known>(['campaigns', id, 'senders'], (known) => known && { ...known, chosen });
  return poolOf(campaign, chosen);
}

/** Editor of the share of emails of each sender. */
function Shares({
  senders,
  mailboxes,
  may,
  onChange,
}: {
  senders: Pool['senders'];
  mailboxes: { value: string; label: string }[];
  may: boolean;
  onChange: (senders: Pool['senders']) => void;
}) {
  const t = useText();
  return (
    <Table>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('campaign.senders.mailbox')}</Table.Th>
          <Table.Th w={140}>{t('campaign.senders.weight')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {senders.map((sender) => {
          const name = mailboxes.find(({ value }) => value === sender.email_account_id)?.label ?? '';
          return (
            <Table.Tr key={sender.email_account_id}>
              <Table.Td maw={240} className="clip">
                <PageLink to={`/mailboxes/${sender.email_account_id}`} size="sm">
                  {name}
                </PageLink>
              </Table.Td>
              <Table.Td>
                <NumberInput
                  size="xs"
                  aria-label={t('campaign.senders.weight.of', { name })}
                  min={1}
                  max={100}
                  value={sender.weight}
                  onChange={(weight) =>
                    onChange(senders.map((one) => (one === sender ? { ...one, weight: Number(weight) } : one)))
                  }
                  disabled={!may}
                />
              </Table.Td>
            </Table.Tr>
          );
        })}
      </Table.Tbody>
    </Table>
  );
}
