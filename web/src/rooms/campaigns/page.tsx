import { Alert, Badge, Button, Group, List, Modal, MultiSelect, SimpleGrid, Stack, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import IconPause from '@tabler/icons-react/dist/esm/icons/IconPlayerPause.mjs';
import IconPlay from '@tabler/icons-react/dist/esm/icons/IconPlayerPlay.mjs';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { dataOf, heron } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAct } from '../../parts/act.ts';
import { Figure } from '../../parts/figure.tsx';
import { Page } from '../../parts/page.tsx';
import { Section } from '../../parts/section.tsx';
import { Answered, ErrorNote, Finding, FiguresSkeleton, ListSkeleton } from '../../parts/states.tsx';
import { Ago } from '../../parts/time.tsx';
import { textOf, toNumber, toPercent, useText } from '../../text/index.ts';
import { AddLeads } from './add-leads.tsx';
import { useLeads } from './leads.ts';
import { CampaignStatus } from './status.tsx';
import { Steps } from './steps.tsx';

/** One campaign: what came of it, what keeps it from starting, its letters, senders and leads. */
export default function CampaignPage() {
  const t = useText();
  const { id } = useParams({ strict: false }) as { id: string };
  const maySend = useCan('send_campaigns');
  const campaign = useQuery({
    queryKey: ['campaigns', id],
    queryFn: () => dataOf(heron.GET('/v1/campaigns/{id}', { params: { path: { id } } })),
  });
  return (
    <Page
      title={campaign.data?.name ?? t('campaigns.one')}
      lead={campaign.data ? <CampaignStatus status={campaign.data.status} /> : null}
      back={{ to: '/campaigns', label: t('nav.campaigns') }}
      actions={campaign.data && maySend ? <StartStop id={id} status={campaign.data.status} /> : null}
    >
      <Answered query={campaign} skeleton={<ListSkeleton rows={3} height={120} />}>
        {(data) => (
          <>
            {data.status === 'draft' ? null : <Figures id={id} />}
            {data.blocked_reason ? (
              <Alert color="red" variant="light">
                {data.blocked_reason}
              </Alert>
            ) : null}
            {data.status === 'active' || data.status === 'completed' ? null : <Findings id={id} />}
            <Steps id={id} isRunning={data.status === 'active'} />
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              <Senders id={id} />
              <Section title={t('campaign.when')}>
                <Text size="sm">
                  {t('campaign.hours', { from: data.start_time, to: data.end_time, zone: data.timezone })}
                </Text>
                <Text size="sm" c="dimmed">
                  {t('campaign.limit', { count: data.daily_limit })}
                </Text>
              </Section>
            </SimpleGrid>
            <Leads id={id} />
          </>
        )}
      </Answered>
    </Page>
  );
}

function StartStop({ id, status }: { id: string; status: string }) {
  const t = useText();
  const [isOpen, confirm] = useDisclosure();
  const path = { params: { path: { id } } };
  const stale = [['campaigns'], ['checklist']];
  const start = useAct(() => dataOf(heron.POST('/v1/campaigns/{id}/start', { ...path, body: {} })), {
    stale,
    done: t('campaign.started'),
    isShown: true,
    onDone: confirm.close,
  });
  const stop = useAct(() => dataOf(heron.POST('/v1/campaigns/{id}/stop', path)), {
    stale,
    done: t('campaign.stopped'),
  });
  if (status === 'active')
    return (
      <Button
        variant="default"
        leftSection={<IconPause size={16} />}
        onClick={() => stop.mutate()}
        loading={stop.isPending}
      >
        {t('campaign.stop')}
      </Button>
    );
  return (
    <>
      <Button leftSection={<IconPlay size={16} />} onClick={confirm.open}>
        {t('campaign.start')}
      </Button>
      <Modal opened={isOpen} onClose={confirm.close} title={t('campaign.start.ask')}>
        <Stack>
          <Text size="sm">{t('campaign.start.why')}</Text>
          <ErrorNote error={start.error} />
          <Group justify="flex-end">
            <Button onClick={() => start.mutate()} loading={start.isPending} data-autofocus>
              {t('campaign.start.do')}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}

function Figures({ id }: { id: string }) {
  const t = useText();
  const may = useCan('view_analytics');
  const figures = useQuery({
    queryKey: ['campaigns', id, 'figures'],
    enabled: may,
    queryFn: () => dataOf(heron.GET('/v1/analytics/campaigns/{id}', { params: { path: { id } } })),
  });
  if (!may) return null;
  return (
    <Answered query={figures} skeleton={<FiguresSkeleton />}>
      {({ summary }) => (
        <SimpleGrid cols={{ base: 2, md: 4 }}>
          <Figure
            label={t('campaigns.sent')}
            value={toNumber(summary.emails_sent)}
            note={t('campaign.waiting', { count: summary.emails_pending })}
          />
          <Figure
            label={t('start.replies')}
            value={toNumber(summary.replies)}
            note={toPercent(summary.reply_rate / 100)}
          />
          <Figure
            label={t('campaign.opens')}
            value={toNumber(summary.unique_opens)}
            note={toPercent(summary.open_rate / 100)}
          />
          <Figure
            label={t('campaigns.bounceRate')}
            value={toNumber(summary.bounces)}
            note={toPercent(summary.bounce_rate / 100)}
          />
        </SimpleGrid>
      )}
    </Answered>
  );
}

function Findings({ id }: { id: string }) {
  const t = useText();
  const check = useQuery({
    queryKey: ['campaigns', id, 'check'],
    queryFn: () => dataOf(heron.POST('/v1/campaigns/{id}/validate', { params: { path: { id } } })),
  });
  return (
    <Section title={t('campaign.check')}>
      <Answered query={check} skeleton={<ListSkeleton rows={2} height={32} />}>
        {({ problems }) =>
          problems.length === 0 ? (
            <Text size="sm">{t('campaign.check.fine')}</Text>
          ) : (
            <List listStyleType="none" spacing="xs">
              {problems.map((one) => (
                <List.Item key={one.code + one.message}>
                  <Badge variant="light" color={one.severity === 'error' ? 'red' : 'yellow'} tt="none" mr="xs">
                    {t(one.severity === 'error' ? 'campaign.check.error' : 'campaign.check.warning')}
                  </Badge>
                  <Text size="sm" span className="wrap-anywhere">
                    <Finding message={one.message} fix={one.fix} />
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

function Senders({ id }: { id: string }) {
  const t = useText();
  const may = useCan('manage_campaigns');
  const senders = useQuery({
    queryKey: ['campaigns', id, 'senders'],
    queryFn: async () => {
      const [chosen, mailboxes] = await Promise.all([
        dataOf(heron.GET('/v1/campaigns/{id}/senders', { params: { path: { id } } })),
        dataOf(heron.GET('/v1/emails', { params: { query: { limit: 100 } } })),
      ]);
      return { chosen: chosen.data, mailboxes: mailboxes.data };
    },
  });
  const replace = useAct(
    (ids: string[]) =>
      dataOf(
        heron.PUT('/v1/campaigns/{id}/senders', {
          params: { path: { id } },
          body: { senders: ids.map((email_account_id) => ({ email_account_id })) },
        }),
      ),
    { stale: [['campaigns', id], ['checklist']] },
  );
  return (
    <Section title={t('campaign.senders')}>
      <Answered query={senders} skeleton={<ListSkeleton rows={1} />}>
        {({ chosen, mailboxes }) => (
          <MultiSelect
            aria-label={t('campaign.senders')}
            description={t('campaign.senders.why')}
            data={mailboxes.map((one) => ({ value: one.id, label: one.email }))}
            value={replace.isPending ? replace.variables : chosen.map((one) => one.email_account_id)}
            onChange={(ids) => replace.mutate(ids)}
            disabled={!may}
            searchable
            nothingFoundMessage={t('mailboxes.empty')}
          />
        )}
      </Answered>
    </Section>
  );
}

function Leads({ id }: { id: string }) {
  const t = useText();
  const may = useCan('manage_campaigns');
  const leads = useLeads(id);
  return (
    <Section title={t('nav.leads')} action={may ? <AddLeads id={id} /> : null}>
      <Answered query={leads} skeleton={<ListSkeleton rows={3} />}>
        {({ data }) =>
          data.length === 0 ? (
            <Text size="sm" c="dimmed">
              {t('campaign.leads.empty')}
            </Text>
          ) : (
            <Table.ScrollContainer minWidth={560}>
              <Table>
                <Table.Tbody>
                  {data.map((lead) => (
                    <Table.Tr key={lead.contact_id}>
                      <Table.Td maw={{ base: 180, sm: 280 }} className="clip">
                        {lead.contact?.email ?? t('campaign.leads.erased')}
                      </Table.Td>
                      <Table.Td>
                        <Badge
                          variant="light"
                          tt="none"
                          color={lead.status === 'replied' ? 'teal' : lead.failure_reason ? 'red' : 'gray'}
                        >
                          {textOf('lead.status', lead.status)}
                        </Badge>
                      </Table.Td>
                      <Table.Td c="dimmed" className="wrap-anywhere">
                        {lead.failure_reason ?? lead.hold?.reason ?? lead.current_step}
                      </Table.Td>
                      <Table.Td c="dimmed" ta="right">
                        {lead.last_activity_at ? <Ago at={lead.last_activity_at} /> : null}
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          )
        }
      </Answered>
    </Section>
  );
}
