import { Badge, Button, Group, List, Stack, Text } from '@mantine/core';
import IconWorld from 'tabler:world';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import { useCan, usePerson } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { shownAddress } from '../../components/address.ts';
import { CopyBox } from '../../components/copy.tsx';
import { PageLink, PageLinkButton } from '../../components/page-link.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, Empty, ErrorNote, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { useText } from '../../text/index.ts';
import { SettingsPage } from './frame.tsx';

type Campaign = RowOf<'/v1/campaigns'>;

/** Page of the own domains in links of campaigns, for opens, clicks and unsubscribes, with a check of their DNS. */
export default function DomainsPage() {
  const t = useText();
  const campaigns = useQuery({
    queryKey: ['campaigns', 'domains'],
    queryFn: () => dataOf(heron.GET('/v1/campaigns', { params: { query: { limit: 100 } } })),
  });
  return (
    <SettingsPage>
      <Text size="sm" c="dimmed" maw={720}>
        {t('settings.domains.why')}
      </Text>
      <Answered query={campaigns} skeleton={<ListSkeleton rows={2} height={140} />}>
        {({ data }) => {
          const domains = [...new Set(data.map(({ tracking_domain: domain }) => domain))].filter(Boolean);
          return domains.length === 0 ? (
            <Empty
              icon={IconWorld}
              title={t('settings.domains.none')}
              action={<PageLinkButton to="/campaigns">{t('nav.campaigns')}</PageLinkButton>}
            >
              {t('settings.domains.none.why')}
            </Empty>
          ) : (
            domains.map((domain) => (
              <Domain
                key={domain}
                domain={domain}
                campaigns={data.filter(({ tracking_domain: own }) => own === domain)}
              />
            ))
          );
        }}
      </Answered>
    </SettingsPage>
  );
}

function Domain({ domain, campaigns }: { domain: string; campaigns: readonly Campaign[] }) {
  const t = useText();
  const may = useCan('manage_campaigns');
  const { workspace } = usePerson();
  const verified = campaigns.filter(({ tracking_domain_verified: isVerified }) => isVerified);
  const at = verified[0]?.tracking_domain_verified_at;
  const isInUse = verified.length === campaigns.length;
  const check = useAction(
    async () => {
      // Each campaign stores the result, so the check runs for each. The first failure is that of the domain.
      for (const { id } of campaigns)
        await dataOf(heron.POST('/v1/campaigns/{id}/tracking-domain/verify', { params: { path: { id } } }));
    },
    { stale: [['campaigns']], isShown: true, done: t('settings.domains.passed') },
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
        {at ? (
          <Text size="sm" c="dimmed">
            {t('settings.domains.checked')} <Ago at={at} />
          </Text>
        ) : null}
        <Text size="sm">{t('settings.domains.records')}</Text>
        <CopyBox
          label={t('settings.domains.txt')}
          value={`_heron.${domain} TXT heron-workspace=${workspace?.id ?? ''}`}
        />
        <Text size="sm">{t('settings.domains.campaigns')}</Text>
        <List size="sm">
          {campaigns.map(({ id, name }) => (
            <List.Item key={id} className="wrap-anywhere">
              <PageLink to={`/campaigns/${id}?tab=schedule`} size="sm">
                {name}
              </PageLink>
            </List.Item>
          ))}
        </List>
        <ErrorNote error={check.error} />
        {may ? (
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
