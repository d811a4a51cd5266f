import { Alert, Badge, Button, Group, NumberInput, SimpleGrid, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { dataOf, heron, queryClient, type AnswerOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { DraftFoot } from '../../components/draft-form.tsx';
import { useDraft } from '../../components/draft.ts';
import { Figure } from '../../components/figure.tsx';
import { useFocusReturn } from '../../components/focus.ts';
import { Page } from '../../components/page.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, ErrorNote, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { toNumber, useText } from '../../text/index.ts';
import { Disconnect } from './disconnect.tsx';
import { HeldMailbox } from './hold.tsx';
import { MailboxState } from './list.tsx';
import { NewPassword } from './password.tsx';
import { TestResult } from './refusal.tsx';
import { MailboxHealth, useStanding, WarmupCurve } from './health.tsx';
import { Identity } from './identity.tsx';
import { SyncButton } from './sync.tsx';
import { TrackingDomain } from './tracking.tsx';

type Mailbox = AnswerOf<'/v1/emails/{id}'>;

/** Page of one mailbox: health, hold and its fix, DNS, limits, warmup and campaigns. */
export default function MailboxPage() {
  const t = useText();
  const { id } = useParams({ from: '/mailboxes/$id' });
  const mailbox = useQuery({
    queryKey: ['mailboxes', id],
    queryFn: () => dataOf(heron.GET('/v1/emails/{id}', { params: { path: { id } } })),
  });
  const standing = useStanding(id);
  return (
    <Page
      title={mailbox.data?.email ?? t('mailboxes.one')}
      lead={
        mailbox.data ? (
          <Group gap="xs">
            <MailboxState mailbox={mailbox.data} />
            {mailbox.data.name}
          </Group>
        ) : null
      }
      back={{ to: '/mailboxes', label: t('nav.mailboxes') }}
    >
      <Answered query={mailbox} skeleton={<ListSkeleton rows={4} height={110} />}>
        {(data) => (
          <Stack gap="md">
            <HeldMailbox mailbox={data} />
            <MailboxHealth standing={standing} />
            {standing.isLoading ? null : <Parts mailbox={data} />}
          </Stack>
        )}
      </Answered>
    </Page>
  );
}

/** Parts of the page below the health, which would move while it is unknown. */
function Parts({ mailbox }: { mailbox: Mailbox }) {
  const mayFigures = useCan('view_analytics');
  return (
    <>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Connection mailbox={mailbox} />
        <Dns id={mailbox.id} />
        <Caps mailbox={mailbox} />
        <Warmup mailbox={mailbox} />
        <TrackingDomain mailbox={mailbox} />
        {/* Only Gmail mailboxes have several From addresses to choose from. */}
        {mailbox.provider === 'gmail' ? <Identity mailbox={mailbox} /> : <Used mailbox={mailbox} />}
      </SimpleGrid>
      {mailbox.warmup && mayFigures ? <WarmupCurve id={mailbox.id} /> : null}
      {mailbox.provider === 'gmail' ? <Used mailbox={mailbox} /> : null}
      <Errors mailbox={mailbox} />
      <Disconnect mailbox={mailbox} />
    </>
  );
}

function Connection({ mailbox }: { mailbox: Mailbox }) {
  const t = useText();
  const may = useCan('manage_settings');
  const securityOf = (security: Mailbox['smtp']['security']) =>
    t(security === 'none' ? 'mailbox.unencrypted' : `connect.security.${security}`);
  const test = useAction(() => dataOf(heron.POST('/v1/emails/{id}/test', { params: { path: { id: mailbox.id } } })), {
    stale: [['mailboxes', mailbox.id]],
    isShown: true,
  });
  return (
    <Section title={t('mailbox.connection')}>
      <Stack gap="xs">
        <Text size="sm" className="wrap-anywhere">
          SMTP {mailbox.smtp.host}:{mailbox.smtp.port} · {securityOf(mailbox.smtp.security)}
        </Text>
        {mailbox.imap ? (
          <Text size="sm" className="wrap-anywhere">
            IMAP {mailbox.imap.host}:{mailbox.imap.port} · {securityOf(mailbox.imap.security)}
          </Text>
        ) : null}
        <Text size="sm" c="dimmed">
          {t('mailboxes.synced')}: {mailbox.last_synced_at ? <Ago at={mailbox.last_synced_at} /> : t('mailboxes.never')}
        </Text>
        {test.data ? (
          <Group gap="xs" role="status">
            {(['smtp', 'imap', 'auth'] as const).map((part) => (
              <Badge key={part} color={test.data[part] ? 'teal' : 'red'} variant="light" tt="none">
                {t(`mailbox.test.${part}`)} {t(test.data[part] ? 'mailbox.works' : 'mailbox.fails')}
              </Badge>
            ))}
          </Group>
        ) : null}
        {test.data?.error ? <TestResult error={test.data.error} /> : null}
        <ErrorNote error={test.error} />
        <Group>
          {may ? (
            <>
              <Button size="xs" variant="default" onClick={() => test.mutate()} loading={test.isPending}>
                {t('mailbox.test')}
              </Button>
              {mailbox.provider === 'smtp_imap' ? <NewPassword key={mailbox.hold?.code} mailbox={mailbox} /> : null}
            </>
          ) : null}
          <SyncButton id={mailbox.id} />
        </Group>
      </Stack>
    </Section>
  );
}

function Dns({ id }: { id: string }) {
  const t = useText();
  const dns = useQuery({
    queryKey: ['mailboxes', id, 'dns'],
    queryFn: () => dataOf(heron.GET('/v1/emails/{id}/auth-check', { params: { path: { id } } })),
    staleTime: 5 * 60_000,
  });
  useFocusReturn(dns.isFetching);
  return (
    <Section title={t('mailbox.dns')}>
      <Answered query={dns} skeleton={<ListSkeleton rows={3} height={24} />}>
        {(data) => (
          <Stack gap="xs">
            {(
              [
                ['spf', 'SPF', data.spf_found, data.spf_record],
                ['dkim', 'DKIM', data.dkim_found, data.dkim_selectors?.join(', ')],
                ['dmarc', 'DMARC', data.dmarc_found, data.dmarc_policy],
              ] as const
            ).map(([key, name, found, detail]) => (
              <div key={key}>
                <Group gap="xs" wrap="nowrap">
                  <Text size="sm" w={64} flex="none">
                    {name}
                  </Text>
                  <Badge color={found ? 'teal' : 'red'} variant="light" tt="none" flex="none">
                    {t(found ? 'mailbox.found' : 'mailbox.missing')}
                  </Badge>
                  {found ? (
                    <Text size="xs" c="dimmed" className="clip" title={detail}>
                      {detail}
                    </Text>
                  ) : null}
                </Group>
                {found ? null : (
                  <Text size="xs" c="dimmed" mt={4} className="wrap-anywhere">
                    {t(`mailbox.dns.fix.${key}`)}
                  </Text>
                )}
              </div>
            ))}
            {data.all_aligned ? (
              <Text size="sm" c="dimmed">
                {data.summary}
              </Text>
            ) : null}
            <Group>
              <Button size="xs" variant="default" onClick={() => void dns.refetch()} loading={dns.isFetching}>
                {t('mailbox.dns.again')}
              </Button>
            </Group>
          </Stack>
        )}
      </Answered>
    </Section>
  );
}

/** Limits as an editable draft; the gap is in minutes. */
interface EditedCaps {
  limit: number | string;
  gap: number | string;
  updated_at: string;
}
const capsOf = ({ campaign_limit: limit, min_wait_time: seconds, updated_at }: Mailbox): EditedCaps => ({
  limit,
  gap: seconds / 60,
  updated_at,
});

function Caps({ mailbox }: { mailbox: Mailbox }) {
  const t = useText();
  const may = useCan('manage_settings');
  const path = { params: { path: { id: mailbox.id } } };
  const keep = (stored: Mailbox) => {
    queryClient.setQueryData(['mailboxes', mailbox.id], stored);
    return capsOf(stored);
  };
  const draft = useDraft<EditedCaps>({
    stored: capsOf(mailbox),
    write: async ({ limit, gap }, { updated_at: expected_updated_at }) =>
      keep(
        await dataOf(
          heron.PATCH('/v1/emails/{id}', {
            ...path,
            body: {
              ...(limit === undefined ? {} : { campaign_limit: Number(limit) }),
              ...(gap === undefined ? {} : { min_wait_time: Math.round(Number(gap) * 60) }),
              expected_updated_at,
            },
          }),
        ),
      ),
    readAgain: async () => keep(await dataOf(heron.GET('/v1/emails/{id}', path))),
    stale: [['mailboxes']],
    done: t('saved'),
  });
  const { value, change } = draft;
  return (
    <Section title={t('mailbox.caps')}>
      <Stack gap="sm">
        <Group grow align="flex-end">
          <NumberInput
            label={t('mailbox.limit')}
            min={0}
            max={1000}
            value={value.limit}
            onChange={(limit) => change({ limit })}
            disabled={!may}
          />
          <NumberInput
            label={t('connect.gap')}
            min={0}
            value={value.gap}
            onChange={(gap) => change({ gap })}
            disabled={!may}
            decimalScale={2}
          />
        </Group>
        {may ? <DraftFoot draft={draft} names={{ limit: t('mailbox.limit'), gap: t('connect.gap') }} /> : null}
      </Stack>
    </Section>
  );
}

function Warmup({ mailbox }: { mailbox: Mailbox }) {
  const t = useText();
  const may = useCan('manage_settings');
  const path = { params: { path: { id: mailbox.id } } };
  const warmup = useQuery({
    queryKey: ['mailboxes', mailbox.id, 'warmup'],
    queryFn: () => dataOf(heron.GET('/v1/emails/{id}/warmup', path)),
  });
  const act = useAction(
    async (verb: 'start' | 'pause' | 'resume' | 'stop') => {
      if (verb === 'start') await dataOf(heron.POST('/v1/emails/{id}/warmup/start', path));
      else if (verb === 'pause') await dataOf(heron.POST('/v1/emails/{id}/warmup/pause', path));
      else if (verb === 'resume') await dataOf(heron.POST('/v1/emails/{id}/warmup/resume', path));
      else await dataOf(heron.POST('/v1/emails/{id}/warmup/stop', path));
    },
    { stale: [['mailboxes']], isShown: true },
  );
  return (
    <Section title={t('mailboxes.warmup')}>
      <Answered query={warmup} skeleton={<ListSkeleton rows={2} height={40} />}>
        {(data) => (
          <Stack gap="sm">
            {data.enabled ? (
              <SimpleGrid cols={2}>
                <Figure label={t('mailbox.warmup.state')} value={t(`mailbox.warmup.${data.status}`)} />
                <Figure label={t('mailbox.warmup.target')} value={toNumber(data.daily_target)} />
              </SimpleGrid>
            ) : (
              <Text size="sm" c="dimmed">
                {t('mailbox.warmup.off')}
              </Text>
            )}
            {data.blocked_reason ? (
              <Alert color="red" variant="light">
                {data.blocked_reason}
              </Alert>
            ) : null}
            <ErrorNote error={act.error} />
            {may ? (
              <Group gap="xs">
                {!data.enabled ? (
                  <Button size="xs" variant="default" onClick={() => act.mutate('start')} loading={act.isPending}>
                    {t('mailbox.warmup.start')}
                  </Button>
                ) : data.status === 'paused' ? (
                  <Button size="xs" variant="default" onClick={() => act.mutate('resume')} loading={act.isPending}>
                    {t('mailbox.warmup.resume')}
                  </Button>
                ) : (
                  <Button size="xs" variant="default" onClick={() => act.mutate('pause')} loading={act.isPending}>
                    {t('mailbox.warmup.pause')}
                  </Button>
                )}
                {data.enabled ? (
                  <Button size="xs" variant="subtle" onClick={() => act.mutate('stop')} loading={act.isPending}>
                    {t('mailbox.warmup.stop')}
                  </Button>
                ) : null}
              </Group>
            ) : null}
          </Stack>
        )}
      </Answered>
    </Section>
  );
}

function Used({ mailbox: { campaigns } }: { mailbox: Mailbox }) {
  const t = useText();
  return (
    <Section title={t('mailbox.campaigns')}>
      {campaigns.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('mailbox.campaigns.none')}
        </Text>
      ) : (
        <Stack gap={4}>
          {campaigns.map(({ id, name }) => (
            <PageLink key={id} to={`/campaigns/${id}`} size="sm" className="wrap-anywhere">
              {name}
            </PageLink>
          ))}
        </Stack>
      )}
    </Section>
  );
}

function Errors({ mailbox: { recent_errors: errors } }: { mailbox: Mailbox }) {
  const t = useText();
  if (errors.length === 0) return null;
  return (
    <Section title={t('mailbox.errors')}>
      <Table.ScrollContainer minWidth={480}>
        <Table>
          <Table.Tbody>
            {errors.map((one) => (
              <Table.Tr key={one.id}>
                <Table.Td>
                  <Text size="sm" fw={600}>
                    {one.title}
                  </Text>
                  <Text size="sm" c="dimmed" className="wrap-anywhere">
                    {one.message}
                  </Text>
                </Table.Td>
                <Table.Td c="dimmed" ta="right">
                  <Ago at={one.created_at} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Section>
  );
}
