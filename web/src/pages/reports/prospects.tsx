import { Badge, Group, Select } from '@mantine/core';
import IconUsers from 'tabler:users';
import { useState } from 'react';
import { dataOf, heron, type QueryOf, type RowOf } from '../../app/api.ts';
import { shownAddress } from '../../components/address.ts';
import { choicesOf, useCampaigns } from '../../components/choices.ts';
import { useFilter } from '../../components/filter.ts';
import { nameOf } from '../../components/name.ts';
import { isEmptyList, usePaged } from '../../components/paged.tsx';
import { SearchField } from '../../components/search-field.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { Moment } from '../../components/time.tsx';
import { VirtualTable } from '../../components/virtual-table.tsx';
import { text, useText } from '../../text/index.ts';
import { ReportPage } from './frame.tsx';

type Prospect = RowOf<'/v1/acquisition/prospects'>;
type Asked = QueryOf<'/v1/acquisition/prospects'>;

const REACHED = ['interested', 'signed_up', 'activated', 'paid', 'silent'] as const;
const LEFT = [
  'sent_no_reply',
  'interested_no_signup',
  'signup_no_activation',
  'activation_no_paid',
  'signup_no_paid',
] as const;
/** Stages of a prospect, the most advanced first. Each is the name of the field that contains its time. */
const STAGES = [
  ['paid_at', 'teal'],
  ['activated_at', 'teal'],
  ['signed_up_at', 'teal'],
  ['complained_at', 'red'],
  ['unsubscribed_at', 'yellow'],
  ['positive_reply_at', 'blue'],
  ['replied_at', 'blue'],
  ['bounced_at', 'red'],
  ['clicked_at', 'gray'],
  ['opened_at', 'gray'],
] as const;

/** Page of the contacts that got an email, filtered by the stage that they reached. The latest activity is first. */
export default function ProspectsPage() {
  const t = useText();
  const [q, setQ] = useFilter('q');
  const [stage, setStage] = useFilter('stage');
  const [campaign, setCampaign] = useFilter('campaign');
  // Loads the names of the campaigns when the filter opens, because only the filter needs them.
  const [isPicking, setPicking] = useState(false);
  const campaigns = useCampaigns(isPicking || campaign !== '');
  const asked: Asked = {
    ...(q ? { q } : {}),
    ...(campaign ? { campaign_id: campaign } : {}),
    ...stageOf(stage),
  };
  const list = usePaged(['reports', 'prospects', asked], (cursor, signal) =>
    dataOf(heron.GET('/v1/acquisition/prospects', { params: { query: { ...asked, limit: 100, ...cursor } }, signal })),
  );
  const isNarrow = Object.keys(asked).length > 0;
  return (
    <ReportPage>
      <Answered query={list} skeleton={<ListSkeleton rows={8} />}>
        {() =>
          isEmptyList(list) && !isNarrow ? (
            <Empty icon={IconUsers} title={t('prospects.empty')}>
              {t('prospects.empty.why')}
            </Empty>
          ) : (
            <>
              <Group gap="xs">
                <SearchField label={t('prospects.search')} value={q} onChange={setQ} />
                <Select
                  value={stage || null}
                  onChange={(value) => setStage(value ?? '')}
                  data={[
                    {
                      group: t('prospects.reached'),
                      items: REACHED.map((value) => ({ value, label: t(`prospects.filter.${value}`) })),
                    },
                    {
                      group: t('prospects.left'),
                      items: LEFT.map((value) => ({ value, label: t(`prospects.filter.${value}`) })),
                    },
                  ]}
                  placeholder={t('prospects.anyStage')}
                  aria-label={t('prospects.anyStage')}
                  clearable
                  w={260}
                />
                <Select
                  value={campaign || null}
                  onChange={(value) => setCampaign(value ?? '')}
                  data={choicesOf(campaigns.data?.data ?? [])}
                  onDropdownOpen={() => setPicking(true)}
                  placeholder={t('prospects.anyCampaign')}
                  aria-label={t('prospects.anyCampaign')}
                  clearable
                  searchable
                  w={220}
                />
              </Group>
              <VirtualTable<Prospect>
                list={list}
                minWidth={760}
                keyOf={({ contact_id: id }) => id}
                columns={[
                  { label: t('reports.person') },
                  { label: t('prospects.company'), width: '22%', isExtra: true },
                  { label: t('reports.figure.confirmed_sends'), isNumber: true, width: 90, isExtra: true },
                  { label: t('prospects.stage'), width: 150 },
                  { label: t('prospects.last'), width: 150, isExtra: true },
                ]}
              >
                {cellsOf}
              </VirtualTable>
            </>
          )
        }
      </Answered>
    </ReportPage>
  );
}

/** Converts the stage in the URL to the API's filter. */
function stageOf(stage: string): Pick<Asked, 'filter' | 'dropoff'> {
  const filter = REACHED.find((one) => one === stage);
  const dropoff = LEFT.find((one) => one === stage);
  return filter ? { filter } : dropoff ? { dropoff } : {};
}

function cellsOf(prospect: Prospect) {
  const [stage, color] = STAGES.find(([at]) => prospect[at] !== null) ?? (['sent', 'gray'] as const);
  return (
    <>
      <td className="clip">
        <a href={`/leads/${prospect.contact_id}`} title={prospect.email}>
          {shownAddress(nameOf(prospect))}
        </a>
      </td>
      <td className="clip">{prospect.company}</td>
      <td className="number">{prospect.confirmed_sends}</td>
      <td>
        <Badge variant="light" tt="none" color={color}>
          {text(`prospects.stage.${stage}`)}
        </Badge>
      </td>
      <td className="clip dimmed">
        <Moment at={prospect.last_activity_at} />
      </td>
    </>
  );
}
