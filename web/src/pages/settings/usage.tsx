import { SegmentedControl, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { Figure } from '../../components/figure.tsx';
import { useFilter } from '../../components/filter.ts';
import { PageLink, type Address } from '../../components/page-link.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, FiguresSkeleton } from '../../components/states.tsx';
import { toNumber, useText } from '../../text/index.ts';
import { SettingsPage } from './frame.tsx';

const PERIODS = ['day', 'week', 'month'] as const;

/** Page of the workspace's usage, with links to the pages on which data are exported, retained and erased. */
export default function UsagePage() {
  return (
    <SettingsPage>
      <Numbers />
      <Requests />
      <Data />
    </SettingsPage>
  );
}

function Numbers() {
  const t = useText();
  const [chosen, choose] = useFilter('period');
  const period = PERIODS.find((one) => one === chosen) ?? 'month';
  const usage = useQuery({
    queryKey: ['reports', 'usage', period],
    queryFn: async () => {
      const [counts, mailboxes] = await Promise.all([
        dataOf(heron.GET('/v1/analytics/usage', { params: { query: { period } } })),
        dataOf(heron.GET('/v1/emails/allowance')),
      ]);
      return { ...counts, mailboxes };
    },
  });
  return (
    <Stack gap="sm">
      <SegmentedControl
        w="fit-content"
        aria-label={t('settings.period')}
        value={period}
        onChange={choose}
        data={PERIODS.map((value) => ({ value, label: t(`settings.period.${value}`) }))}
      />
      <Answered query={usage} skeleton={<FiguresSkeleton />}>
        {({ campaigns, contacts, mailboxes }) => (
          <SimpleGrid cols={{ base: 2, md: 4 }}>
            <Figure
              label={t('settings.usage.sent')}
              value={toNumber(campaigns.emails_sent)}
              note={t(`settings.period.${period}`)}
            />
            <Figure
              label={t('settings.usage.mailboxes')}
              value={toNumber(mailboxes.used)}
              note={
                mailboxes.remaining === null
                  ? t('settings.usage.noLimit')
                  : t('settings.usage.remaining', { count: mailboxes.remaining })
              }
            />
            <Figure
              label={t('settings.usage.campaigns')}
              value={toNumber(campaigns.total)}
              note={t('settings.usage.active', { count: campaigns.active })}
            />
            <Figure
              label={t('settings.usage.contacts')}
              value={toNumber(contacts.total)}
              note={t('settings.usage.added', { count: contacts.added_today })}
            />
          </SimpleGrid>
        )}
      </Answered>
    </Stack>
  );
}

/** Shows the requests made with API keys in the past 24 hours, to people who manage keys. */
function Requests() {
  const t = useText();
  const may = useCan('manage_api_keys');
  const summary = useQuery({
    queryKey: ['keys', 'summary'],
    queryFn: () => dataOf(heron.GET('/v1/api-keys/usage/summary')),
    enabled: may,
  });
  if (!may) return null;
  return (
    <Section title={t('settings.usage.api')}>
      <Answered query={summary} skeleton={<FiguresSkeleton />}>
        {(data) => (
          <SimpleGrid cols={{ base: 2, md: 4 }}>
            <Figure label={t('settings.usage.keys')} value={toNumber(data.active_keys)} />
            <Figure label={t('settings.usage.requests')} value={toNumber(data.requests_24h)} />
            <Figure label={t('settings.usage.errors')} value={toNumber(data.errors_24h)} />
            <Figure
              label={t('settings.usage.latency')}
              value={t('settings.usage.ms', { count: Math.round(data.avg_latency_ms_24h) })}
            />
          </SimpleGrid>
        )}
      </Answered>
    </Section>
  );
}

/** Links to the pages that export, retain and erase data. */
function Data() {
  const t = useText();
  const [mayContacts, mayRead, mayChange] = [
    useCan('view_contacts'),
    useCan('view_analytics'),
    useCan('manage_settings'),
  ];
  const places: { to: Address; label: string; why: string; isShown: boolean }[] = [
    {
      to: '/leads/database',
      label: t('settings.data.export'),
      why: t('settings.data.export.why'),
      isShown: mayContacts,
    },
    { to: '/leads', label: t('settings.data.erase'), why: t('settings.data.erase.why'), isShown: mayContacts },
    {
      to: '/settings/outreach',
      label: t('settings.data.keep'),
      why: t('settings.data.keep.why'),
      isShown: mayChange,
    },
    { to: '/operations/audit', label: t('settings.data.audit'), why: t('settings.data.audit.why'), isShown: mayRead },
  ];
  return (
    <Section title={t('settings.data')}>
      <Stack gap="sm">
        {places
          .filter(({ isShown }) => isShown)
          .map(({ to, label, why }) => (
            <div key={to}>
              <PageLink to={to} size="sm">
                {label}
              </PageLink>
              <Text size="sm" c="dimmed">
                {why}
              </Text>
            </div>
          ))}
      </Stack>
    </Section>
  );
}
