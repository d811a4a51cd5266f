import { Anchor, Badge, Button, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useFilter } from '../../components/filter.ts';
import { Page } from '../../components/page.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { useText } from '../../text/index.ts';
import { Connect } from './connect.tsx';
import { ConnectionStatus } from './status.tsx';

type Provider = AnswerOf<'/v1/integrations/catalog'>['catalog'][number];
type Connection = AnswerOf<'/v1/integrations/connections'>['connections'][number];

/** Page of all providers with their connected accounts and health. */
export default function IntegrationsPage() {
  const t = useText();
  const [connecting, connect] = useFilter('connect');
  const all = useQuery({
    queryKey: ['integrations', 'list'],
    queryFn: async () => {
      const [{ catalog }, { connections }] = await Promise.all([
        dataOf(heron.GET('/v1/integrations/catalog')),
        dataOf(heron.GET('/v1/integrations/connections')),
      ]);
      return { catalog, connections };
    },
  });
  const provider = all.data?.catalog.find((one) => one.provider === connecting);
  return (
    <Page title={t('nav.integrations')} lead={t('integrations.lead')}>
      <Answered query={all} skeleton={<ListSkeleton rows={4} height={120} />}>
        {({ catalog, connections }) => (
          <Stack gap="xl">
            {[...new Set(catalog.map(({ category }) => category))].map((category) => (
              <section key={category} aria-label={t(`integrations.category.${category}`)}>
                <Title order={2} size="h5" mb="sm">
                  {t(`integrations.category.${category}`)}
                </Title>
                <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
                  {catalog
                    .filter((one) => one.category === category)
                    .map((one) => (
                      <ProviderCard
                        key={one.provider}
                        provider={one}
                        connections={connections.filter((each) => each.provider === one.provider)}
                        onConnect={() => connect(one.provider)}
                      />
                    ))}
                </SimpleGrid>
              </section>
            ))}
          </Stack>
        )}
      </Answered>
      {provider ? <Connect provider={provider} onClose={() => connect('')} /> : null}
    </Page>
  );
}

function ProviderCard({
  provider,
  connections,
  onConnect,
}: {
  provider: Provider;
  connections: Connection[];
  onConnect: () => void;
}) {
  const t = useText();
  const mayConnect = useCan('manage_settings');
  return (
    <Paper withBorder radius="md" p="md" component="article" aria-label={provider.name}>
      <Stack gap="xs" h="100%">
        <Group gap="xs">
          <Title order={3} size="h6">
            {provider.name}
          </Title>
          {provider.beta ? (
            <Badge variant="light" color="gray" tt="none">
              {t('integrations.beta')}
            </Badge>
          ) : null}
        </Group>
        <Text size="sm" c="dimmed" flex={1}>
          {provider.tagline}
        </Text>
        {connections.map((one) => (
          <Group key={one.id} gap="xs" wrap="nowrap" justify="space-between">
            <Text size="sm" className="clip">
              <PageLink to={`/integrations/${one.id}`} inherit fw={600} title={nameOf(one)}>
                {nameOf(one)}
              </PageLink>
            </Text>
            <ConnectionStatus connection={one} />
          </Group>
        ))}
        {provider.configured ? null : (
          <Text size="xs" c="dimmed">
            {t('integrations.notConfigured', { names: clientSettings(provider.provider) })}
          </Text>
        )}
        <Group gap="sm" justify="space-between">
          {provider.configured ? (
            mayConnect ? (
              <Button size="xs" variant="default" aria-haspopup="dialog" onClick={onConnect}>
                {t(connections.length > 0 ? 'integrations.connectMore' : 'integrations.connect')}
                <span className="skip">{` ${provider.name}`}</span>
              </Button>
            ) : (
              <span />
            )
          ) : (
            <Button size="xs" variant="default" disabled>
              {t('integrations.connect')}
              <span className="skip">{` ${provider.name}`}</span>
            </Button>
          )}
          <Anchor href={provider.docs_url} size="xs" underline="always" target="_blank" rel="noreferrer" flex="none">
            {t('integrations.docs')}
            <span className="skip">{` ${provider.name}`}</span>
          </Anchor>
        </Group>
      </Stack>
    </Paper>
  );
}

/** Returns the names of the settings for the installation's OAuth client at a provider. */
function clientSettings(provider: string): string {
  const name = provider.toUpperCase();
  return `${name}_CLIENT_ID, ${name}_CLIENT_SECRET`;
}

/**
 * Returns the label of an account. Without a label, returns its name at the provider or, failing that, the provider.
 */
export function nameOf({ label, external_account_name, provider }: Connection): string {
  return label || external_account_name || provider;
}
