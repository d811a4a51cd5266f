import { Anchor, Badge, Group, List, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useCan, usePerson } from '../../app/person.ts';
import { Facts } from '../../components/facts.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, Finding, ListSkeleton } from '../../components/states.tsx';
import { textOf, toNumber, useText } from '../../text/index.ts';
import { OperatorPage } from './frame.tsx';

const COLORS = { error: 'red', warning: 'yellow', info: 'blue' } as const;

/** Page of the installation's health: its parts and findings. */
export default function HealthPage() {
  const t = useText();
  const { person } = usePerson();
  const isAdmin = useCan('view_analytics') && person.is_admin;
  const findings = useFindings(isAdmin);
  return (
    <OperatorPage>
      {isAdmin ? <Findings health={findings} /> : null}
      {isAdmin && findings.isPending ? null : (
        <SimpleGrid cols={{ base: 1, md: isAdmin ? 2 : 1 }}>
          <Parts />
          {isAdmin ? <Build /> : null}
        </SimpleGrid>
      )}
      {isAdmin ? null : (
        <Text size="sm" c="dimmed">
          {t('operator.admins')}
        </Text>
      )}
    </OperatorPage>
  );
}

function useFindings(isWanted: boolean) {
  return useQuery({
    queryKey: ['operator', 'findings'],
    enabled: isWanted,
    queryFn: () => dataOf(heron.GET('/v1/admin/instance/health')),
  });
}

function Findings({ health }: { health: ReturnType<typeof useFindings> }) {
  const t = useText();
  return (
    <Section title={t('operator.findings')}>
      <Answered query={health} skeleton={<ListSkeleton rows={3} height={48} />}>
        {({ findings }) =>
          findings.length === 0 ? (
            <Text size="sm">{t('operator.findings.none')}</Text>
          ) : (
            <List listStyleType="none" spacing="md">
              {findings.map(({ code, title, message, fix, severity, docs }) => (
                <List.Item key={code}>
                  <Group gap="xs" mb={2}>
                    <Badge variant="light" color={COLORS[severity]} tt="none">
                      {t(`operator.severity.${severity}`)}
                    </Badge>
                    <Text span fw={600} size="sm">
                      {title}
                    </Text>
                  </Group>
                  <Text size="sm" className="wrap-anywhere">
                    <Finding message={message} fix={fix} />
                  </Text>
                  <Text size="xs" c="dimmed">
                    {t('operator.docs', { path: docs })}
                  </Text>
                </List.Item>
              ))}
            </List>
          )
        }
      </Answered>
    </Section>
  );
}

/** State of the parts of the installation, visible to every signed-in person. */
function Parts() {
  const t = useText();
  const parts = useQuery({
    queryKey: ['operator', 'readiness'],
    queryFn: () => dataOf(heron.GET('/v1/system/readiness')),
  });
  return (
    <Section title={t('operator.parts')}>
      <Answered query={parts} skeleton={<ListSkeleton rows={5} height={24} />}>
        {({ checks }) => (
          <Stack gap="xs">
            {checks.map((check) => (
              <Part key={check.name} check={check} />
            ))}
          </Stack>
        )}
      </Answered>
    </Section>
  );
}

function Part({ check }: { check: AnswerOf<'/v1/system/readiness'>['checks'][number] }) {
  const t = useText();
  const { name, ok, detail, fix, latency_ms: latencyMs } = check;
  return (
    <Group gap="xs" align="flex-start" wrap="nowrap">
      <Badge variant="light" color={ok ? 'teal' : 'red'} tt="none" flex="none" miw={74}>
        {t(ok ? 'operator.works' : 'operator.fails')}
      </Badge>
      <Text size="sm" className="wrap-anywhere" component="div">
        {textOf('operator.part', name)}
        {latencyMs ? (
          <Text span c="dimmed" inherit>
            {' '}
            {t('operator.latency', { ms: toNumber(latencyMs) })}
          </Text>
        ) : null}
        {ok ? null : (
          <Text size="sm" component="div">
            <Finding message={detail ?? ''} fix={fix ?? ''} />
          </Text>
        )}
      </Text>
    </Group>
  );
}

function Build() {
  const t = useText();
  const update = useQuery({
    queryKey: ['operator', 'update'],
    queryFn: () => dataOf(heron.GET('/v1/admin/instance/update')),
    staleTime: 10 * 60_000,
  });
  return (
    <Section title={t('operator.build')}>
      <Answered query={update} skeleton={<ListSkeleton rows={2} height={24} />}>
        {({ running, newest, state }) => (
          <Stack gap="sm">
            <Facts
              rows={[
                [t('operator.running'), running.version],
                [
                  t('operator.newest'),
                  newest?.url ? (
                    <Anchor href={newest.url} size="sm" rel="noreferrer" target="_blank">
                      {newest.version}
                    </Anchor>
                  ) : (
                    newest?.version
                  ),
                ],
                [t('operator.node'), running.node],
              ]}
            />
            <Text size="sm" c="dimmed">
              {t(`operator.update.${state}`)}
            </Text>
          </Stack>
        )}
      </Answered>
    </Section>
  );
}
