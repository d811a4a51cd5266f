import { Button, Group, Progress, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { Section } from '../../components/section.tsx';
import { Answered, ErrorNote, ListSkeleton } from '../../components/states.tsx';
import { useText } from '../../text/index.ts';
import { Problems } from './problems.tsx';
import { TestRuns } from './test-runs.tsx';

/** Checks before the start, from fast to real: blockers, a scored report, a test run. */
export default function Check({ id }: { id: string }) {
  const t = useText();
  const maySend = useCan('send_campaigns');
  const check = useQuery({
    queryKey: ['campaigns', id, 'check'],
    queryFn: () => dataOf(heron.POST('/v1/campaigns/{id}/validate', { params: { path: { id } } })),
  });
  return (
    <Stack gap="lg">
      <SimpleGrid cols={{ base: 1, md: 2 }} style={{ alignItems: 'start' }}>
        <Section title={t('campaign.check')}>
          <Answered query={check} skeleton={<ListSkeleton rows={2} height={32} />}>
            {({ problems }) =>
              problems.length === 0 ? (
                <Text size="sm">{t('campaign.check.fine')}</Text>
              ) : (
                <Problems id={id} problems={problems} />
              )
            }
          </Answered>
        </Section>
        {maySend ? <Preflight id={id} /> : null}
      </SimpleGrid>
      <TestRuns id={id} />
    </Stack>
  );
}

/** Scored report on copy, list, schedule and the senders' DNS; run on request. */
function Preflight({ id }: { id: string }) {
  const t = useText();
  const preflight = useAction(() => dataOf(heron.POST('/v1/campaigns/{id}/preflight', { params: { path: { id } } })), {
    isShown: true,
  });
  const report = preflight.data;
  return (
    <Section
      title={t('preflight.title')}
      action={
        <Button size="xs" variant="default" onClick={() => preflight.mutate()} loading={preflight.isPending}>
          {t(report ? 'preflight.again' : 'preflight.do')}
        </Button>
      }
    >
      <ErrorNote error={preflight.error} />
      {report ? (
        <Stack gap="md">
          <div>
            <Group justify="space-between" mb={4}>
              <Text size="sm">{t(report.passed ? 'preflight.passed' : 'preflight.failed')}</Text>
              <Text fw={650} className="figures">
                {t('preflight.score', { score: report.score })}
              </Text>
            </Group>
            <Progress
              value={report.score}
              color={report.score >= 80 ? 'teal' : report.score > 40 ? 'yellow' : 'red'}
              aria-label={t('preflight.title')}
            />
          </div>
          <Problems id={id} problems={report.findings} />
          {report.findings.length === 0 ? <Text size="sm">{t('preflight.fine')}</Text> : null}
        </Stack>
      ) : (
        <Text size="sm" c="dimmed">
          {t('preflight.why')}
        </Text>
      )}
    </Section>
  );
}
