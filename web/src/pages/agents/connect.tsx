import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';
import { CopyBox } from '../../components/copy.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { useText } from '../../text/index.ts';
import { AgentsPage } from './frame.tsx';
import { Limits } from './limits.tsx';

/** Page that explains how to connect an agent: values to copy, and the rights that the agent gets. */
export default function ConnectPage() {
  const t = useText();
  const address = `${window.location.origin}/mcp`;
  const effective = useQuery({
    queryKey: ['policies', 'effective'],
    queryFn: () => dataOf(heron.GET('/v1/agent-policies/effective')),
  });
  return (
    <AgentsPage>
      <Section title={t('agents.mcp')}>
        <Stack gap="sm">
          <Text size="sm">{t('agents.mcp.why')}</Text>
          <CopyBox label={t('agents.mcp.address')} value={address} />
          <Text size="sm">{t('agents.mcp.command')}</Text>
          <CopyBox label={t('agents.mcp.command')} value={`claude mcp add --transport http heron ${address}`} />
          <Text size="sm">{t('agents.mcp.config')}</Text>
          <CopyBox
            label={t('agents.mcp.config')}
            value={JSON.stringify({ mcpServers: { heron: { type: 'http', url: address } } }, null, 2)}
          />
          <Text size="sm" c="dimmed">
            {t('agents.mcp.key')}{' '}
            <PageLink to="/agents/keys" underline="always">
              {t('agents.keys')}
            </PageLink>
          </Text>
          <CopyBox
            label={t('agents.mcp.key')}
            value={JSON.stringify(
              {
                mcpServers: {
                  heron: { type: 'http', url: address, headers: { Authorization: 'Bearer <HERON_KEY>' } },
                },
              },
              null,
              2,
            )}
          />
        </Stack>
      </Section>
      <Section title={t('agents.mcp.rest')}>
        <Stack gap="sm">
          <Text size="sm">{t('agents.mcp.rest.why')}</Text>
          <CopyBox
            label={t('agents.mcp.rest')}
            value={`curl -H "Authorization: Bearer $HERON_KEY" ${window.location.origin}/v1/ai/tools`}
          />
        </Stack>
      </Section>
      <Section title={t('agents.effective')}>
        <Answered query={effective} skeleton={<ListSkeleton rows={2} height={24} />}>
          {(data) =>
            data.source === 'session' ? <Text size="sm">{t('agents.effective.person')}</Text> : <Limits policy={data} />
          }
        </Answered>
      </Section>
      <Tools />
    </AgentsPage>
  );
}

/** Tools that a credential with the person's rights may call, over MCP and REST. */
function Tools() {
  const t = useText();
  const tools = useQuery({
    queryKey: ['policies', 'tools'],
    queryFn: () => dataOf(heron.GET('/v1/ai/tools')),
  });
  return (
    <Answered query={tools} skeleton={<ListSkeleton rows={3} />}>
      {({ tools: rows }) => (
        <DataTable
          title={t('agents.tools')}
          note={t('agents.tools.why')}
          filename="tools"
          rows={rows}
          keyOf={({ name }) => name}
          columns={[
            { label: t('agents.name'), value: ({ name }) => name },
            { label: t('agents.tools.does'), value: ({ title }) => title },
            { label: t('agents.tools.reads'), value: (one) => t(one.read_only ? 'agents.yes' : 'agents.no') },
          ]}
        />
      )}
    </Answered>
  );
}
