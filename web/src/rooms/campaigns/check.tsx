import { Badge, Button, Group, List, Progress, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAct } from '../../parts/act.ts';
import { Section } from '../../parts/section.tsx';
import { Answered, ErrorNote, Finding, ListSkeleton } from '../../parts/states.tsx';
import { To } from '../../parts/to.tsx';
import { textOf, useText } from '../../text/index.ts';
import { TestRuns } from './test-runs.tsx';

/** Where what is wrong with a whole campaign is mended. */
const PLACES: Record<string, 'leads' | 'senders'> = {
  campaign_no_mailbox: 'senders',
  campaign_no_contacts: 'leads',
  no_remaining_leads: 'leads',
  leads_undeliverable: 'leads',
  list_bounce_risk: 'leads',
};
const COLORS: Record<string, string> = { error: 'red', warning: 'yellow', info: 'gray' };

/** Looks before the start, from quick to real: what keeps it from starting, a scored report, a test on oneself. */
export function Check({ id }: { id: string }) {
  const t = useText();
  const maySend = useCan('send_campaigns');
  const check = useQuery({
    queryKey: ['campaigns', id, 'check'],
    queryFn: () => dataOf(heron.POST('/v1/campaigns/{id}/validate', { params: { path: { id } } })),
  });
  return (
    <Stack gap="lg">
      <SimpleGrid cols={{ base: 1, md: 2 }}>
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

interface Problem {
  code: string;
  severity: string;
  message: string;
  fix: string;
  step_id?: string | undefined;
}

/** What is wrong, worst first, each with its fix and a link to the step it is about. */
export function Problems({ id, problems }: { id: string; problems: readonly Problem[] }) {
  return (
    <List listStyleType="none" spacing="sm">
      {problems.map((one, at) => (
        <List.Item key={at}>
          <Group gap="xs" align="flex-start" wrap="nowrap">
            <Badge variant="light" color={COLORS[one.severity] ?? 'gray'} tt="none" flex="none">
              {textOf('campaign.check', one.severity)}
            </Badge>
            <Text size="sm" component="div" className="wrap-anywhere">
              <Finding code={one.code} message={one.message} fix={one.fix} hasPlace={isPlaced(one)} />
              {isPlaced(one) ? <Place id={id} problem={one} /> : null}
            </Text>
          </Group>
        </List.Item>
      ))}
    </List>
  );
}

function isPlaced({ step_id: step, code }: Problem): boolean {
  return step !== undefined || code in PLACES;
}

/** Leads to where a problem is mended: its step, or the part of the campaign that it is about. */
function Place({ id, problem: { step_id: step, code } }: { id: string; problem: Problem }) {
  const t = useText();
  const tab = PLACES[code] ?? 'leads';
  return (
    <To to={`/campaigns/${id}?${step ? `step=${step}` : `tab=${tab}`}`} size="sm">
      {step ? t('campaign.check.toStep') : t(`campaign.check.to.${tab}`)}
    </To>
  );
}

/** The scored report over the copy, the list, the schedule and the DNS of the senders; made when it is asked for. */
function Preflight({ id }: { id: string }) {
  const t = useText();
  const preflight = useAct(() => dataOf(heron.POST('/v1/campaigns/{id}/preflight', { params: { path: { id } } })), {
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
