import {
  Anchor,
  Badge,
  Button,
  Group,
  List,
  NumberInput,
  Paper,
  SegmentedControl,
  Stack,
  Text,
  Textarea,
  Title,
} from '@mantine/core';
import { useInterval } from '@mantine/hooks';
import IconCheck from 'tabler:rosette-discount-check';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { useFilter } from '../../components/filter.ts';
import { Page } from '../../components/page.tsx';
import { Answered, Empty, ErrorNote, Finding, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { textOf, useText } from '../../text/index.ts';
import { readChecks, readContent } from './content.ts';

type Approval = RowOf<'/v1/approvals'>;
const SEVERITY = { error: 'red', warning: 'yellow', info: 'blue' } as const;
type Shown = 'pending' | 'approved' | 'denied' | 'expired' | 'executed';

/** Page of approvals with content, recipients, senders and the decision. Designed for phones. */
export default function ReviewPage() {
  const t = useText();
  const [filter, setFilter] = useFilter('status');
  const status = (filter || 'pending') as Shown;
  const list = useQuery({
    queryKey: ['approvals', status],
    queryFn: () => dataOf(heron.GET('/v1/approvals', { params: { query: { status, limit: 50 } } })),
    refetchInterval: 20_000,
  });
  return (
    <Page title={t('nav.review')} lead={t('review.lead')}>
      <SegmentedControl
        value={status}
        onChange={(value) => setFilter(value === 'pending' ? '' : value)}
        data={(['pending', 'executed', 'denied', 'expired'] as const).map((value) => ({
          value,
          label: t(`review.status.${value}`),
        }))}
        aria-label={t('review.filter')}
        className="narrow-choice"
        fullWidth
        maw={520}
      />
      <Answered query={list} skeleton={<ListSkeleton rows={2} height={240} />}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon={IconCheck} title={t(status === 'pending' ? 'review.empty' : 'review.none')}>
              {t('review.empty.why')}
            </Empty>
          ) : (
            <Stack>
              {data.map((approval) => (
                <ApprovalCard key={approval.id} approval={approval} />
              ))}
            </Stack>
          )
        }
      </Answered>
    </Page>
  );
}

function ApprovalCard({ approval }: { approval: Approval }) {
  const t = useText();
  const content = readContent(approval.payload);
  const checks = readChecks(approval.preflight);
  const isPending = approval.status === 'pending';
  return (
    <Paper withBorder radius="md" p="lg" component="article" maw={760}>
      <Stack gap="sm">
        <Group justify="space-between" align="flex-start" gap="xs">
          <Title order={2} size="h4" className="wrap-anywhere">
            {textOf('review.action', approval.action_type)}
          </Title>
          {isPending ? (
            <Countdown until={approval.expires_at} />
          ) : (
            <Badge variant="light" tt="none">
              {t(`review.status.${approval.status}`)}
            </Badge>
          )}
        </Group>
        <Text size="sm" c="dimmed" className="wrap-anywhere">
          {t('review.asked', { name: approval.requested_by.name })} <Ago at={approval.created_at} />
        </Text>
        {approval.reasons.length > 0 ? (
          <Stack gap={2}>
            {approval.reasons.map((reason) => (
              <Text key={reason} size="sm" className="wrap-anywhere">
                {reason}
              </Text>
            ))}
          </Stack>
        ) : null}
        {content.senders.map(({ email, name, replyTo, server }, at) => (
          <Row
            key={at}
            name={t('review.from')}
            text={[
              name ? `${name} <${email}>` : email,
              replyTo && t('review.answersTo', { address: replyTo }),
              server && t('review.through', { server }),
            ]
              .filter(Boolean)
              .join(', ')}
          />
        ))}
        {content.recipientCount > 0 ? (
          <Row
            name={t('review.to')}
            text={[t('review.people', { count: content.recipientCount }), ...content.recipients].join(': ')}
          />
        ) : null}
        {content.emailCount > 0 ? (
          <Row name={t('review.steps')} text={t('review.emails', { count: content.emailCount })} />
        ) : null}
        {content.schedule ? <Row name={t('review.when')} text={content.schedule} /> : null}
        <Checks findings={checks} />
        {content.samples.map((sample, at) => (
          <Paper key={at} withBorder p="sm" radius="md" bg="var(--app-canvas)">
            <Text fw={600} size="sm" className="wrap-anywhere">
              {sample.subject || t('review.noSubject')}
            </Text>
            <Text size="sm" className="wrap-anywhere" style={{ whiteSpace: 'pre-wrap' }}>
              {sample.text}
            </Text>
          </Paper>
        ))}
        <Anchor href={approval.approval_url} size="sm">
          {t('review.whole')}
        </Anchor>
        {isPending ? <Decision approval={approval} /> : null}
        {approval.reason ? <Row name={t('review.reason')} text={approval.reason} /> : null}
      </Stack>
    </Paper>
  );
}

/** Findings of the checks before a launch. */
function Checks({ findings }: { findings: ReturnType<typeof readChecks> }) {
  const t = useText();
  if (!findings) return null;
  if (findings.length === 0) return <Row name={t('review.checks')} text={t('review.checks.fine')} />;
  return (
    <List listStyleType="none" spacing={4} aria-label={t('review.checks')}>
      {findings.map(({ severity, message, fix }) => (
        <List.Item key={message} styles={{ itemWrapper: { display: 'block' }, itemLabel: { display: 'block' } }}>
          <Group gap="xs" wrap="nowrap" align="flex-start">
            <Badge variant="light" color={SEVERITY[severity]} tt="none" flex="none">
              {t(`review.checks.${severity}`)}
            </Badge>
            <Text size="sm" className="wrap-anywhere" component="div" miw={0}>
              <Finding message={message} fix={fix} />
            </Text>
          </Group>
        </List.Item>
      ))}
    </List>
  );
}

function Row({ name, text }: { name: string; text: string }) {
  return (
    <Text size="sm" className="wrap-anywhere">
      <Text span c="dimmed" inherit>
        {name}{' '}
      </Text>
      {text}
    </Text>
  );
}

function Countdown({ until }: { until: string }) {
  const t = useText();
  const [now, setNow] = useState(Date.now());
  const tick = useInterval(() => setNow(Date.now()), 1_000);
  useEffect(() => {
    tick.start();
    return tick.stop;
  }, []);
  const left = Math.max(0, Date.parse(until) - now);
  const clock = `${Math.floor(left / 60_000)}:${String(Math.floor((left % 60_000) / 1000)).padStart(2, '0')}`;
  return (
    <Badge variant="light" color={left < 5 * 60_000 ? 'red' : 'blue'} tt="none" className="figures">
      {left === 0 ? t('review.over') : t('review.left', { clock })}
    </Badge>
  );
}

function Decision({ approval: { id, subject_type: subject, requested_by: requester } }: { approval: Approval }) {
  const t = useText();
  const [reason, setReason] = useState('');
  const [leadsPerDay, setLeadsPerDay] = useState<number | string>('');
  const [isDenying, setDenying] = useState(false);
  const decide = useAction(
    (decision: 'approved' | 'denied') =>
      dataOf(
        heron.POST('/v1/approvals/{id}/decision', {
          params: { path: { id } },
          body: {
            decision,
            ...(reason ? { reason } : {}),
            ...(decision === 'approved' && leadsPerDay !== '' ? { leads_per_day: Number(leadsPerDay) } : {}),
          },
        }),
      ),
    { stale: [['approvals'], ['campaigns'], ['policies']], isShown: true, done: t('review.decided') },
  );
  return (
    <Stack gap="sm">
      {isDenying ? (
        <Textarea
          label={t('review.why')}
          autosize
          minRows={2}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          data-autofocus
        />
      ) : subject === 'campaign_leads' ? (
        <NumberInput
          label={t('review.leadsPerDay', { name: requester.name })}
          description={t('review.leadsPerDay.why')}
          value={leadsPerDay}
          onChange={setLeadsPerDay}
          min={1}
          allowDecimal={false}
          allowNegative={false}
        />
      ) : null}
      <ErrorNote error={decide.error} />
      <Group grow preventGrowOverflow={false}>
        {isDenying ? (
          <Button variant="default" onClick={() => setDenying(false)}>
            {t('cancel')}
          </Button>
        ) : (
          <Button
            onClick={() => decide.mutate('approved')}
            loading={decide.isPending && decide.variables === 'approved'}
          >
            {t('review.approve')}
          </Button>
        )}
        <Button
          variant={isDenying ? 'filled' : 'default'}
          color={isDenying ? 'red' : undefined}
          onClick={() => (isDenying ? decide.mutate('denied') : setDenying(true))}
          loading={decide.isPending && decide.variables === 'denied'}
        >
          {t('review.deny')}
        </Button>
      </Group>
    </Stack>
  );
}
