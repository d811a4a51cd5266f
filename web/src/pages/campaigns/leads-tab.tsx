import { ActionIcon, Badge, Group, Menu, Select, Stack, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import IconDots from 'tabler:dots';
import IconUsers from 'tabler:users';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import type { Key } from '../../app/query-keys.ts';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { useFilter } from '../../components/filter.ts';
import { isEmptyList, PagedTable, usePaged } from '../../components/paged.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { textOf, useText } from '../../text/index.ts';
import { Confirm } from './confirm.tsx';
import { AddLeads } from './add-leads.tsx';

type Lead = RowOf<'/v1/campaigns/{id}/leads'>;
type Status = Lead['status'];
const STATUSES: readonly Status[] = [
  'pending',
  'active',
  'paused',
  'replied',
  'completed',
  'bounced',
  'unsubscribed',
  'undeliverable',
  'failed',
];
const COLORS: Record<string, string> = {
  active: 'blue',
  replied: 'teal',
  paused: 'yellow',
  bounced: 'red',
  failed: 'red',
  undeliverable: 'red',
};
const PAGE = 50;

/** Leads of a campaign with progress, reason and actions. The filter is in the address. */
export default function Leads({ id, isRunning }: { id: string; isRunning: boolean }) {
  const t = useText();
  const may = useCan('manage_campaigns');
  const [status, setStatus] = useFilter('status');
  const leads = usePaged(['campaigns', id, 'leads', 'list', status], (cursor, signal) =>
    dataOf(
      heron.GET('/v1/campaigns/{id}/leads', {
        params: {
          path: { id },
          query: { limit: PAGE, ...(status ? { status: status as Status } : {}), ...cursor },
        },
        signal,
      }),
    ),
  );
  const add = may ? <AddLeads id={id} /> : null;
  return (
    <Answered query={leads} skeleton={<ListSkeleton rows={5} />}>
      {({ pages }) =>
        isEmptyList(leads) && !status ? (
          <Empty icon={IconUsers} title={t('campaign.lead.empty')} action={add}>
            {t('campaign.leads.empty')}
          </Empty>
        ) : (
          <Stack gap="sm">
            <Group justify="space-between">
              <Select
                value={status || null}
                onChange={(value) => setStatus(value ?? '')}
                data={STATUSES.map((value) => ({ value, label: textOf('lead.status', value) }))}
                placeholder={t('campaigns.anyStatus')}
                aria-label={t('campaigns.anyStatus')}
                clearable
                w={200}
              />
              {add}
            </Group>
            <PagedTable
              list={leads}
              minWidth={760}
              columns={[
                { label: t('campaign.lead.who') },
                { label: t('campaigns.status') },
                { label: t('campaign.lead.step'), isExtra: true },
                { label: t('campaign.lead.why'), isExtra: true },
                { label: t('campaign.lead.last'), isExtra: true },
                ...(may ? [{ label: t('campaign.lead.do'), isHidden: true }] : []),
              ]}
            >
              {pages.flatMap(({ data }) =>
                data.map((lead) => (
                  <Row key={lead.contact_id} campaignId={id} isRunning={isRunning} lead={lead} may={may} />
                )),
              )}
            </PagedTable>
          </Stack>
        )
      }
    </Answered>
  );
}

function Row({
  campaignId,
  isRunning,
  lead,
  may,
}: {
  campaignId: string;
  isRunning: boolean;
  lead: Lead;
  may: boolean;
}) {
  const t = useText();
  const name = lead.contact?.email ?? t('campaign.leads.erased');
  return (
    <Table.Tr>
      <Table.Td maw={{ base: 190, sm: 240 }} className="clip">
        <PageLink to={`/campaigns/${campaignId}/leads/${lead.contact_id}`} size="sm" fw={600} title={name}>
          {name}
        </PageLink>
        {lead.contact?.company ? (
          <Text size="xs" c="dimmed" className="clip">
            {lead.contact.company}
          </Text>
        ) : null}
      </Table.Td>
      <Table.Td>
        <Badge variant="light" tt="none" color={COLORS[lead.status] ?? 'gray'}>
          {textOf('lead.status', lead.status)}
        </Badge>
      </Table.Td>
      <Table.Td maw={180} className="clip" title={lead.current_step ?? undefined}>
        {lead.current_step}
      </Table.Td>
      <Table.Td maw={260} c="dimmed" className="wrap-anywhere">
        <Text inherit lineClamp={2} component="div" title={lead.failure_reason || lead.hold?.reason || undefined}>
          <StateReason lead={lead} isRunning={isRunning} />
        </Text>
      </Table.Td>
      <Table.Td c="dimmed">{lead.last_activity_at ? <Ago at={lead.last_activity_at} /> : null}</Table.Td>
      {may ? (
        <Table.Td>
          <Actions campaignId={campaignId} lead={lead} name={name} />
        </Table.Td>
      ) : null}
    </Table.Tr>
  );
}

/** Shows the reason for a lead's state: its end, its hold or its wait. */
function StateReason({ lead, isRunning }: { lead: Lead; isRunning: boolean }) {
  const t = useText();
  if (lead.failure_reason) return lead.failure_reason;
  if (lead.hold)
    return (
      <>
        {lead.hold.reason || textOf('campaign.lead.hold', lead.hold.source)}
        {lead.hold.until ? (
          <>
            {', '}
            <Ago at={lead.hold.until} />
          </>
        ) : null}
      </>
    );
  if (lead.blocked) return t('campaign.lead.blocked');
  if (!lead.waiting_for) return lead.status === 'pending' ? t(isRunning ? 'waiting.turn' : 'waiting.idle') : null;
  return (
    <>
      {lead.waiting_for}
      {lead.waiting_until ? (
        <>
          {', '}
          <Ago at={lead.waiting_until} />
        </>
      ) : null}
    </>
  );
}

function Actions({ campaignId, lead, name }: { campaignId: string; lead: Lead; name: string }) {
  const t = useText();
  const path = { params: { path: { id: campaignId, contactId: lead.contact_id } } };
  const stale: readonly Key[] = [
    ['campaigns', campaignId],
    ['flow', campaignId],
  ];
  const pause = useAction(
    () => dataOf(heron.POST('/v1/campaigns/{id}/leads/{contactId}/pause', { ...path, body: {} })),
    {
      stale,
      done: t('campaign.lead.paused'),
    },
  );
  const resume = useAction(() => dataOf(heron.POST('/v1/campaigns/{id}/leads/{contactId}/resume', path)), {
    stale,
    done: t('campaign.lead.resumed'),
  });
  const remove = useAction(() => dataOf(heron.DELETE('/v1/campaigns/{id}/leads/{contactId}', path)), {
    stale,
    done: t('campaign.lead.removed'),
    isShown: true,
  });
  const [isRemoving, removal] = useDisclosure();
  const isOpen = lead.status === 'pending' || lead.status === 'active';
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={t('campaign.lead.actions', { name })}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {lead.hold ? <Menu.Item onClick={() => resume.mutate()}>{t('campaign.lead.resume')}</Menu.Item> : null}
          {isOpen ? <Menu.Item onClick={() => pause.mutate()}>{t('campaign.lead.pause')}</Menu.Item> : null}
          <Menu.Item color="red" onClick={removal.open}>
            {t('campaign.lead.remove')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Confirm
        opened={isRemoving}
        close={removal.close}
        title={t('campaign.lead.remove.ask', { name })}
        action={t('campaign.lead.remove')}
        act={remove}
      >
        {t('campaign.lead.remove.why')}
      </Confirm>
    </>
  );
}
