import { Code, List, SimpleGrid } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';
import { Facts } from '../../components/facts.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { Ago, toDateTime } from '../../components/time.tsx';
import { toNumber, useText } from '../../text/index.ts';
import { hasPermission, type Key } from './key-state.tsx';

/** Shows the data of a key, its limits and its permissions. */
export function KeyOverview({ one }: { one: Key }) {
  const t = useText();
  const catalogue = useQuery({
    queryKey: ['keys', 'permissions'],
    queryFn: () => dataOf(heron.GET('/v1/api-keys/permissions')),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Section title={t('agents.key.about')}>
        <Facts
          rows={[
            [t('agents.key'), <Code key="key">{`${one.key_prefix}…${one.key_suffix}`}</Code>],
            [t('agents.description'), one.description],
            [t('agents.created'), toDateTime(one.created_at)],
            [t('agents.expires'), one.expires_at ? <Ago key="end" at={one.expires_at} /> : t('agents.never')],
            [t('agents.used'), one.last_used_at ? <Ago key="used" at={one.last_used_at} /> : t('agents.never')],
            [t('agents.key.lastIp'), one.last_request_ip],
            [t('agents.key.ips'), one.allowed_ips.join(', ') || t('agents.key.anyIp')],
            [
              t('agents.mailboxes'),
              one.allowed_email_accounts.length > 0
                ? toNumber(one.allowed_email_accounts.length)
                : t('agents.key.anyMailbox'),
            ],
            [t('agents.key.rate'), toNumber(one.rate_limit_per_minute)],
            [t('agents.key.revokedAt'), one.revoked_at ? toDateTime(one.revoked_at) : null],
            [t('agents.key.revokedWhy'), one.revoked_reason],
          ]}
        />
      </Section>
      <Section title={t('agents.key.permissions')}>
        <Answered query={catalogue} skeleton={<ListSkeleton rows={4} height={22} />}>
          {({ permissions }) => (
            <List size="sm">
              {permissions
                .filter(({ value }) => hasPermission(one, value))
                .map(({ name, description }) => (
                  <List.Item key={name}>{description}</List.Item>
                ))}
            </List>
          )}
        </Answered>
      </Section>
    </SimpleGrid>
  );
}
