import { Box, Group, List, Progress, SimpleGrid, Stack, Text, ThemeIcon } from '@mantine/core';
import IconAlert from 'tabler:alert-triangle';
import IconCheck from 'tabler:check';
import IconCircle from 'tabler:circle-dashed';
import { useCan, usePerson } from '../../app/person.ts';
import { Figure } from '../../components/figure.tsx';
import { Page } from '../../components/page.tsx';
import { Section } from '../../components/section.tsx';
import { PageLink, PageLinkButton } from '../../components/page-link.tsx';
import { Answered, Finding, FiguresSkeleton, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { textOf, toNumber, toPercent, useText } from '../../text/index.ts';
import { useChecklist, useFigures, type ChecklistStep } from './checklist.ts';
import { ofLastDays } from './figures.ts';

/** First page: recent activity and, until the first reply, the checklist. */
export default function StartPage() {
  const t = useText();
  const { person, workspace } = usePerson();
  const mayCampaigns = useCan('view_campaigns');
  const checklist = useChecklist();
  const isUnderWay = checklist.data?.every(({ state }) => state === 'done') ?? false;
  const name = person.first_name || person.email;
  return (
    <Page
      title={t('start.title', { name })}
      lead={workspace ? t('start.lead', { workspace: workspace.name }) : t('start.noWorkspace')}
    >
      {checklist.isUnknown ? <ListSkeleton rows={7} height={52} /> : null}
      {workspace && !checklist.isUnknown ? (
        <>
          <Figures />
          {isUnderWay || !mayCampaigns ? null : (
            <Answered query={checklist} skeleton={<ListSkeleton rows={7} height={52} />}>
              {(steps) => <Checklist steps={steps} />}
            </Answered>
          )}
          <Activity />
        </>
      ) : null}
    </Page>
  );
}

function Figures() {
  const t = useText();
  const figures = useFigures();
  // Nothing is asked before the first start, or if the role may not see it.
  if (figures.isPending && !figures.isLoading) return null;
  return (
    <Answered query={figures} skeleton={<FiguresSkeleton />}>
      {(data) => {
        const { overall_stats: stats, account_health: health } = data;
        if (stats.total_emails_sent + stats.active_campaigns === 0) return null;
        const { sent, replies } = ofLastDays(data, 30);
        return (
          <SimpleGrid cols={{ base: 2, md: 4 }}>
            <Figure label={t('start.sent')} value={toNumber(sent)} note={t('start.days30')} />
            <Figure
              label={t('start.replies')}
              value={toNumber(replies)}
              note={sent > 0 ? t('start.rate', { rate: toPercent(replies / sent) }) : t('start.nothingSent')}
            />
            <Figure
              label={t('start.activeCampaigns')}
              value={toNumber(stats.active_campaigns)}
              note={t(stats.active_campaigns > 0 ? 'start.now' : 'start.now.none')}
            />
            <Figure
              label={t('start.mailboxes')}
              value={toNumber(health.total_accounts)}
              note={
                health.error_accounts + health.warning_accounts > 0
                  ? t('start.mailboxesWrong', { count: health.error_accounts + health.warning_accounts })
                  : t('start.mailboxesRight')
              }
            />
          </SimpleGrid>
        );
      }}
    </Answered>
  );
}

function Checklist({ steps }: { steps: ChecklistStep[] }) {
  const t = useText();
  const done = steps.filter(({ state }) => state === 'done').length;
  const progress = t('start.progress', { done, all: steps.length });
  // An open DNS step does not prevent a first campaign, because it takes time and depends on other people.
  const open = steps.filter(({ state }) => state !== 'done');
  const next = open.find(({ key }) => key !== 'dns') ?? open[0];
  return (
    <Section
      title={t('start.checklist')}
      size="h4"
      action={
        <Text size="sm" c="dimmed">
          {progress}
        </Text>
      }
    >
      <Progress value={(done / steps.length) * 100} size="sm" mb="md" aria-label={progress} />
      <Stack component="ol" gap={0} p={0} m={0}>
        {steps.map((step) => (
          <Step key={step.key} step={step} isNext={step === next} />
        ))}
      </Stack>
    </Section>
  );
}

function Step({ step: { key, state, problems, to, isUnderWay }, isNext }: { step: ChecklistStep; isNext: boolean }) {
  const t = useText();
  const look = { done: ['teal', IconCheck], wrong: ['red', IconAlert], open: ['gray', IconCircle] } as const;
  const [color, Picture] = look[state];
  return (
    <Group
      component="li"
      align="flex-start"
      py="sm"
      gap="md"
      style={{ listStyle: 'none', borderTop: '1px solid var(--app-line)' }}
    >
      <ThemeIcon variant="light" color={color} radius="xl" size={28} aria-label={t(`start.state.${state}`)} role="img">
        <Picture size={16} />
      </ThemeIcon>
      <Box flex={1} miw={200}>
        <Text size="sm" pt={4} {...(state === 'done' ? { c: 'dimmed' } : { fw: 600 })}>
          {t(`start.step.${key}`)}
        </Text>
        {state === 'open' ? (
          <Text size="sm" c="dimmed">
            {t(`start.step.${key}.why`)}
          </Text>
        ) : null}
        {problems.length > 0 ? (
          <List size="sm" mt={4} listStyleType="none" withPadding={false}>
            {problems.slice(0, 4).map(({ message, fix }) => (
              <List.Item key={message}>
                <Finding message={message} fix={fix} hasPlace />
              </List.Item>
            ))}
          </List>
        ) : null}
      </Box>
      {state === 'done' ? null : (
        <PageLinkButton to={to} size="xs" ml="auto" variant={isNext ? 'filled' : 'default'}>
          {t(isUnderWay ? 'start.step.reply.do' : `start.step.${key}.do`)}
        </PageLinkButton>
      )}
    </Group>
  );
}

function Activity() {
  const t = useText();
  const figures = useFigures();
  const recent = figures.data?.recent_activity ?? [];
  if (recent.length === 0) return null;
  return (
    <Section title={t('start.activity')} size="h4">
      <Stack gap={6}>
        {recent.slice(0, 8).map((one) => (
          <Group
            key={`${one.timestamp}${one.type}${one.contact_id}`}
            justify="space-between"
            align="baseline"
            wrap="nowrap"
            gap="md"
          >
            <Text size="sm" className="wrap-anywhere">
              {one.contact_id ? (
                <PageLink to={`/campaigns/${one.campaign_id}/leads/${one.contact_id}`} underline="always">
                  {one.contact_email ?? t('start.someone')}
                </PageLink>
              ) : (
                t('start.someone')
              )}{' '}
              {textOf('start.did', one.type)} · {one.campaign_name}
            </Text>
            <Text size="sm" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
              <Ago at={one.timestamp} />
            </Text>
          </Group>
        ))}
      </Stack>
    </Section>
  );
}
