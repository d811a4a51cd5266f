import './campaigns.css';
import { Alert, Box, SimpleGrid, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { Figure } from '../../components/figure.tsx';
import { useFilter } from '../../components/filter.ts';
import { useGoTo } from '../../components/page-link.tsx';
import { Page } from '../../components/page.tsx';
import { scrollToOpenTab } from '../../components/sub-pages.tsx';
import { Answered, FiguresSkeleton, ListSkeleton } from '../../components/states.tsx';
import { toNumber, toPercent, useText } from '../../text/index.ts';
import { CampaignMenu } from './campaign-menu.tsx';
import { NextHours } from './next-hours.tsx';
import { campaignQuery } from './queries.ts';
import { StartStop } from './start-stop.tsx';
import { CampaignStatus } from './status.tsx';

/** Lazy-loaded code of each tab. */
const TABS = {
  sequence: () => import('./sequence.tsx'),
  leads: () => import('./leads-tab.tsx'),
  schedule: () => import('./schedule.tsx'),
  senders: () => import('./senders.tsx'),
  check: () => import('./check.tsx'),
  results: () => import('./results.tsx'),
  log: () => import('./log.tsx'),
};
type Tab = keyof typeof TABS;
/** Tabs that show the results of the campaign at their top. */
const WITH_FIGURES: ReadonlySet<Tab> = new Set(['sequence', 'leads', 'results']);
const Sequence = lazy(TABS.sequence);
const Leads = lazy(TABS.leads);
const Schedule = lazy(TABS.schedule);
const Senders = lazy(TABS.senders);
const Check = lazy(TABS.check);
const Results = lazy(TABS.results);
const Log = lazy(TABS.log);

/**
 * Page of one campaign: its figures, and tabs for sequence, leads, schedule, senders, checks, results and log, each
 * with its own URL.
 */
export default function CampaignPage() {
  const t = useText();
  const { id } = useParams({ from: '/campaigns/$id' });
  const maySend = useCan('send_campaigns');
  const mayWrite = useCan('manage_campaigns');
  const go = useGoTo();
  const [tab, setTab] = useFilter('tab');
  const shown = tab in TABS ? (tab as Tab) : 'sequence';
  // Loads the tab's code in parallel with the campaign's data.
  void TABS[shown]();
  const campaign = useQuery(campaignQuery(id));
  const tabs = useRef<HTMLDivElement>(null);
  const isThere = campaign.data !== undefined;
  useEffect(() => scrollToOpenTab(tabs.current, '[data-active]'), [shown, isThere]);
  return (
    <Page
      title={campaign.data?.name ?? t('campaigns.one')}
      lead={campaign.data ? <CampaignStatus campaign={campaign.data} /> : null}
      back={{ to: '/campaigns', label: t('nav.campaigns') }}
      actions={
        campaign.data ? (
          <>
            {mayWrite ? <CampaignMenu campaign={campaign.data} onDeleted={() => go('/campaigns')} /> : null}
            {maySend ? <StartStop campaign={campaign.data} /> : null}
          </>
        ) : null
      }
    >
      <Answered query={campaign} skeleton={<ListSkeleton rows={3} height={120} />}>
        {(data) => {
          const isRunning = data.status === 'active';
          return (
            <>
              {isRunning ? <NextHours campaign={data} /> : null}
              {data.blocked_reason ? (
                <Alert color="red" variant="light">
                  {data.blocked_reason}
                </Alert>
              ) : null}
              <Tabs
                value={shown}
                onChange={(value) => setTab(value === 'sequence' ? '' : (value ?? ''))}
                keepMounted={false}
              >
                <Tabs.List mb="lg" className="campaign-tabs" ref={tabs}>
                  {(Object.keys(TABS) as Tab[]).map((one) => (
                    <Tabs.Tab
                      key={one}
                      value={one}
                      onPointerEnter={() => void TABS[one]()}
                      onFocus={() => void TABS[one]()}
                    >
                      {t(`campaign.tab.${one}`)}
                    </Tabs.Tab>
                  ))}
                </Tabs.List>
                <Tabs.Panel value={shown}>
                  {data.status !== 'draft' && WITH_FIGURES.has(shown) ? <Figures id={id} /> : null}
                  <Suspense fallback={<ListSkeleton rows={3} height={92} />}>
                    {shown === 'sequence' ? <Sequence id={id} isRunning={isRunning} /> : null}
                    {shown === 'leads' ? <Leads id={id} isRunning={isRunning} /> : null}
                    {shown === 'schedule' ? <Schedule key={data.id} campaign={data} /> : null}
                    {shown === 'senders' ? <Senders campaign={data} /> : null}
                    {shown === 'check' ? <Check id={id} /> : null}
                    {shown === 'results' ? <Results id={id} /> : null}
                    {shown === 'log' ? <Log id={id} /> : null}
                  </Suspense>
                </Tabs.Panel>
              </Tabs>
            </>
          );
        }}
      </Answered>
    </Page>
  );
}

function Figures({ id }: { id: string }) {
  const t = useText();
  const may = useCan('view_analytics');
  const figures = useQuery({
    queryKey: ['campaigns', id, 'figures'],
    enabled: may,
    queryFn: () => dataOf(heron.GET('/v1/analytics/campaigns/{id}', { params: { path: { id } } })),
  });
  if (!may) return null;
  return (
    <Box mb="lg">
      <Answered query={figures} skeleton={<FiguresSkeleton />}>
        {({ summary }) => {
          const shareOfSent = (count: number) =>
            summary.emails_sent > 0 ? toPercent(count / summary.emails_sent) : null;
          return (
            <SimpleGrid cols={{ base: 2, md: 4 }}>
              <Figure
                label={t('campaigns.sent')}
                value={toNumber(summary.emails_sent)}
                note={summary.emails_pending > 0 ? t('campaign.waiting', { count: summary.emails_pending }) : null}
              />
              <Figure
                label={t('start.replies')}
                value={toNumber(summary.replies)}
                note={shareOfSent(summary.replies)}
              />
              <Figure
                label={t('campaign.opens')}
                value={toNumber(summary.unique_opens)}
                note={shareOfSent(summary.unique_opens)}
              />
              <Figure
                label={t('campaigns.bounceRate')}
                value={toNumber(summary.bounces)}
                note={shareOfSent(summary.bounces)}
              />
            </SimpleGrid>
          );
        }}
      </Answered>
    </Box>
  );
}
