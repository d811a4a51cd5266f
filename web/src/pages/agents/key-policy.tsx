import { List, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { PageLink } from '../../components/page-link.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { useText } from '../../text/index.ts';
import type { Key } from './key-state.tsx';
import { Limits } from './limits.tsx';

/** Shows the policy that restricts a key, and the keys related to it. */
export function KeyPolicy({ one }: { one: Key }) {
  const mayPolicies = useCan('manage_settings');
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      {mayPolicies ? <Policy id={one.id} /> : null}
      <Lineage one={one} />
    </SimpleGrid>
  );
}

function Policy({ id }: { id: string }) {
  const t = useText();
  const policies = useQuery({
    queryKey: ['policies', 'all'],
    queryFn: () => dataOf(heron.GET('/v1/agent-policies', { params: { query: { limit: 100 } } })),
  });
  return (
    <Section
      title={t('agents.key.policy')}
      action={
        <PageLink to="/agents/policies" size="sm">
          {t('agents.policies')}
        </PageLink>
      }
    >
      <Answered query={policies} skeleton={<ListSkeleton rows={3} height={22} />}>
        {({ data }) => {
          const policy = data.find(({ api_key_id: key }) => key === id);
          return policy ? (
            <Stack gap="xs">
              <Text size="sm" fw={600}>
                {policy.name}
              </Text>
              <Limits policy={policy} explained />
            </Stack>
          ) : (
            <Text size="sm" c="dimmed">
              {t('agents.key.policy.none')}
            </Text>
          );
        }}
      </Answered>
    </Section>
  );
}

/**
 * Shows the key that created this key, and the keys that this key created. The keys that it created end when this key
 * ends.
 */
function Lineage({ one }: { one: Key }) {
  const t = useText();
  const list = useQuery({
    queryKey: ['keys', 'lineage'],
    queryFn: () => dataOf(heron.GET('/v1/api-keys', { params: { query: { limit: 100 } } })),
  });
  const keys = list.data?.data ?? [];
  const maker = keys.find(({ id }) => id === one.made_by_key_id);
  const made = keys.filter(({ made_by_key_id: by }) => by === one.id);
  return (
    <Section title={t('agents.key.lineage')}>
      <Answered query={list} skeleton={<ListSkeleton rows={2} height={22} />}>
        {() => (
          <Stack gap="xs">
            <Text size="sm">
              {maker ? (
                <PageLink to={`/agents/keys/${maker.id}`} size="sm">
                  {t('agents.key.madeBy', { name: maker.name })}
                </PageLink>
              ) : (
                t(
                  one.made_by_key_id
                    ? 'agents.key.madeByKey'
                    : one.made_by_application_id
                      ? 'agents.key.madeByApplication'
                      : 'agents.key.madeByPerson',
                )
              )}
            </Text>
            <Text size="sm" c="dimmed">
              {t(made.length > 0 ? 'agents.key.made' : 'agents.key.made.none')}
            </Text>
            {made.length > 0 ? (
              <List size="sm">
                {made.map(({ id, name }) => (
                  <List.Item key={id}>
                    <PageLink to={`/agents/keys/${id}`} size="sm">
                      {name}
                    </PageLink>
                  </List.Item>
                ))}
              </List>
            ) : null}
          </Stack>
        )}
      </Answered>
    </Section>
  );
}
