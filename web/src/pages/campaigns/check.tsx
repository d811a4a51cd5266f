import { Button, Group, Progress, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { Section } from '../../components/section.tsx';
import { Answered, ErrorNote, ListSkeleton } from '../../components/states.tsx';
import { useText } from '../../text/index.ts';
import { Problems, type Problem } from './problems.tsx';
import { TestRuns } from './test-runs.tsx';

/** Checks before a campaign starts: the verdict, the deliverability risks, and a test run. */
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
            {({ valid, problems }) => (
              <Stack gap="sm">
                <Text size="sm" fw={600} c={valid ? 'var(--mantine-color-text)' : 'var(--mantine-color-error)'}>
                  {t(valid ? 'campaign.check.fine' : 'campaign.check.stopped')}
                </Text>
                <Problems id={id} problems={problems.filter(isError)} />
              </Stack>
            )}
          </Answered>
        </Section>
        <Risks
          id={id}
          known={(check.data?.problems ?? []).filter((one) => !isError(one))}
          stopping={(check.data?.problems ?? []).filter(isError)}
          mayCheck={maySend}
        />
      </SimpleGrid>
      {check.isPending ? null : <TestRuns id={id} />}
    </Stack>
  );
}

/**
 * Lists findings that do not prevent the start, but make it less likely that emails are read. The worst is first. The
 * person can request a scored report on the copy, the list, the schedule and the senders' DNS.
 */
function Risks({
  id,
  known,
  stopping,
  mayCheck,
}: {
  id: string;
  known: readonly Problem[];
  /** Problems that prevent the start, shown with the verdict. */
  stopping: readonly Problem[];
  mayCheck: boolean;
}) {
  const t = useText();
  const preflight = useAction(() => dataOf(heron.POST('/v1/campaigns/{id}/preflight', { params: { path: { id } } })), {
    isShown: true,
  });
  const report = preflight.data;
  const isShown = (one: Problem) =>
    stopping.some(({ code, step_id: step }) => code === one.code && step === one.step_id);
  const findings = report?.findings.filter((one) => !isShown(one)) ?? known;
  return (
    <Section
      title={t('preflight.title')}
      action={
        mayCheck ? (
          <Button size="xs" variant="default" onClick={() => preflight.mutate()} loading={preflight.isPending}>
            {t(report ? 'preflight.again' : 'preflight.do')}
          </Button>
        ) : null
      }
    >
      <ErrorNote error={preflight.error} />
      <Stack gap="md">
        {report ? (
          <Group justify="space-between" gap="sm">
            <Progress
              value={report.score}
              color={report.score >= 80 ? 'teal' : report.score > 40 ? 'yellow' : 'red'}
              aria-label={t('preflight.title')}
              flex={1}
            />
            <Text fw={650} className="figures">
              {t('preflight.score', { score: report.score })}
            </Text>
          </Group>
        ) : (
          <Text size="sm" c="dimmed">
            {t('preflight.why')}
          </Text>
        )}
        <Problems id={id} problems={findings} />
        {report && findings.length === 0 ? <Text size="sm">{t('preflight.fine')}</Text> : null}
      </Stack>
    </Section>
  );
}

const isError = ({ severity }: Problem) => severity === 'error';
