import { Badge, Button, Group, List, Stack, Text } from '@mantine/core';
import IconWorld from 'tabler:world';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron, queryClient, type RowOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { shownAddress } from '../../components/address.ts';
import { CopyBox } from '../../components/copy.tsx';
import { PageLink, PageLinkButton } from '../../components/page-link.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, Empty, ErrorNote, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { textOf, useText } from '../../text/index.ts';
import { SettingsPage } from './frame.tsx';

type Domain = RowOf<'/v1/tracking-domains'>;
type Record = Domain['records'][number];
const COLORS = { right: 'teal', unknown: 'gray', optional: 'gray', missing: 'red', wrong: 'red' } as const;
const queryKey = ['settings', 'domains'] as const;

/**
 * Page of the workspace's tracking domains, which links for opens, clicks and unsubscribes use, with their current DNS
 * records.
 */
export default function DomainsPage() {
  const t = useText();
  const domains = useQuery({ queryKey, queryFn: () => dataOf(heron.GET('/v1/tracking-domains')) });
  return (
    <SettingsPage>
      <Text size="sm" c="dimmed" maw={720}>
        {t('settings.domains.why')}
      </Text>
      <Answered query={domains} skeleton={<ListSkeleton rows={2} height={140} />}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty
              icon={IconWorld}
              title={t('settings.domains.none')}
              action={<PageLinkButton to="/campaigns">{t('nav.campaigns')}</PageLinkButton>}
            >
              {t('settings.domains.none.why')}
            </Empty>
          ) : (
            data.map((one) => <DomainSection key={one.domain} one={one} />)
          )
        }
      </Answered>
    </SettingsPage>
  );
}

function DomainSection({ one: { domain, fault, verified_at: at, campaigns, mailboxes, records } }: { one: Domain }) {
  const t = useText();
  const [mayCampaigns, maySettings] = [useCan('manage_campaigns'), useCan('manage_settings')];
  const uses = [
    ...(mayCampaigns ? campaigns.map((use) => ({ ...use, isMailbox: false })) : []),
    ...(maySettings ? mailboxes.map((use) => ({ ...use, isMailbox: true })) : []),
  ];
  const isInUse = [...campaigns, ...mailboxes].every(({ in_use: isUsed }) => isUsed);
  const check = useAction(
    async () => {
      // A check verifies the domain for all uses that were verified before, so checking one of them is enough.
      const unused = uses.filter(({ in_use: isUsed }) => !isUsed);
      try {
        for (const { id, isMailbox } of unused.length > 0 ? unused : uses.slice(0, 1))
          await dataOf(
            isMailbox
              ? heron.PATCH('/v1/emails/{id}/track', { params: { path: { id }, query: { domain } } })
              : heron.POST('/v1/campaigns/{id}/tracking-domain/verify', { params: { path: { id } } }),
          );
      } finally {
        // Refetches the data, because a failed check ends the use of the domain.
        await queryClient.invalidateQueries({ queryKey });
      }
    },
    { stale: [['campaigns'], ['mailboxes']], isShown: true, done: t('settings.domains.passed') },
  );
  return (
    <Section
      title={shownAddress(domain)}
      action={
        <Badge variant="light" color={isInUse ? 'teal' : 'yellow'} tt="none">
          {t(isInUse ? 'settings.domains.inUse' : 'settings.domains.notInUse')}
        </Badge>
      }
    >
      <Stack gap="sm">
        {fault ? <Text size="sm">{textOf('settings.domains.fault', fault)}</Text> : null}
        {at ? (
          <Text size="sm" c="dimmed">
            {t('settings.domains.checked')} <Ago at={at} />
          </Text>
        ) : null}
        {records.map((record) => (
          <DnsRecord key={record.type} record={record} />
        ))}
        <Text size="sm">{t('settings.domains.uses')}</Text>
        <List size="sm">
          {campaigns.map(({ id, name }) => (
            <List.Item key={id} className="wrap-anywhere">
              <PageLink to={`/campaigns/${id}?tab=schedule`} size="sm">
                {name}
              </PageLink>
            </List.Item>
          ))}
          {mailboxes.map(({ id, email }) => (
            <List.Item key={id} className="wrap-anywhere">
              <PageLink to={`/mailboxes/${id}`} size="sm">
                {email}
              </PageLink>
            </List.Item>
          ))}
        </List>
        <ErrorNote error={check.error} />
        {uses.length > 0 ? (
          <Group>
            <Button size="xs" variant="default" onClick={() => check.mutate()} loading={check.isPending}>
              {t('settings.domains.check')}
            </Button>
          </Group>
        ) : null}
      </Stack>
    </Section>
  );
}

/** Shows one DNS record with its expected and its current value. */
function DnsRecord({ record: { type, name, expected, found, required: isRequired, correct } }: { record: Record }) {
  const t = useText();
  const state = correct
    ? 'right'
    : found === null
      ? 'unknown'
      : !isRequired
        ? 'optional'
        : found.length === 0
          ? 'missing'
          : 'wrong';
  return (
    <Stack gap={6}>
      <Group gap="xs">
        <Text size="sm" fw={600} className="wrap-anywhere">
          {t('settings.domains.record', { type, name })}
        </Text>
        <Badge variant="light" color={COLORS[state]} tt="none" flex="none">
          {t(`settings.domains.record.${state}`)}
        </Badge>
      </Group>
      <CopyBox label={t('settings.domains.record', { type, name })} value={expected} />
      {correct || !found || found.length === 0 ? null : (
        <Text size="sm" c="dimmed" className="wrap-anywhere">
          {t('settings.domains.found', { values: found.join(', ') })}
        </Text>
      )}
    </Stack>
  );
}
