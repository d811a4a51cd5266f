import { ActionIcon, Badge, Group, Menu, Select, Stack, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import IconDots from 'tabler:dots';
import IconUsers from 'tabler:users';
import { Suspense, useState } from 'react';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import type { Key } from '../../app/query-keys.ts';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { shownAddress } from '../../components/address.ts';
import { ContactBar } from '../../components/bulk/lazy.ts';
import { useFilter } from '../../components/filter.ts';
import { isEmptyList, PagedTable, usePaged } from '../../components/paged.tsx';
import { SearchField } from '../../components/search-field.tsx';
import { SelectBox, selectColumn } from '../../components/select-box.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { useChosen, useSelection, type Selection } from '../../hooks/selection.ts';
import { textOf, useText } from '../../text/index.ts';
import { Confirm } from './confirm.tsx';
import { AddLeads } from './add-leads.tsx';
import { typeOf, type Step } from './flow.ts';
import { stepsQuery } from './queries.ts';

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

/** Leads of a campaign with progress, reason and actions. The filter is in the URL. */
export default function Leads({ id, isRunning }: { id: string; isRunning: boolean }) {
  const t = useText();
  const may = useCan('manage_campaigns');
  const mayBulk = useCan('manage_contacts');
  const maySearch = useCan('view_contacts');
  const [q, setQ] = useFilter('q');
  const [status, setStatus] = useFilter('status');
  const [step, setStep] = useFilter('at');
  // Loads the names of the steps when the filter opens, because only the filter needs them.
  const [isPicking, setPicking] = useState(false);
  const steps = useQuery({ ...stepsQuery(id), enabled: isPicking || step !== '' });
  const selection = useSelection(`${q} ${status} ${step}`);
  const chosen = useChosen(selection);
  const isNarrow = Boolean(q || status || step);
  const leads = usePaged(['campaigns', id, 'leads', 'list', q, status, step], (cursor, signal) =>
    dataOf(
      heron.GET('/v1/campaigns/{id}/leads', {
        params: {
          path: { id },
          query: {
            limit: PAGE,
            ...(q ? { q } : {}),
            ...(status ? { status: status as Status } : {}),
            ...(step ? { step } : {}),
            ...cursor,
          },
        },
        signal,
      }),
    ),
  );
  const add = may ? <AddLeads id={id} /> : null;
  selection.order = leads.data?.pages.flatMap(({ data }) => data.map((lead) => lead.contact_id)) ?? [];
  const stepChoices = steps.data?.map((one) => ({ value: one.id, label: nameOfStep(one) })) ?? [];
  return (
    <Answered query={leads} skeleton={<ListSkeleton rows={5} />}>
      {({ pages }) =>
        isEmptyList(leads) && !isNarrow ? (
          <Empty icon={IconUsers} title={t('campaign.lead.empty')} action={add}>
            {t('campaign.leads.empty')}
          </Empty>
        ) : (
          <Stack gap="sm">
            <Group justify="space-between">
              <Group gap="xs">
                {maySearch ? <SearchField label={t('campaign.lead.search')} value={q} onChange={setQ} /> : null}
                <Select
                  value={status || null}
                  onChange={(value) => setStatus(value ?? '')}
                  data={STATUSES.map((value) => ({ value, label: textOf('lead.status', value) }))}
                  placeholder={t('campaigns.anyStatus')}
                  aria-label={t('campaigns.anyStatus')}
                  clearable
                  w={170}
                />
                <Select
                  value={step || null}
                  onChange={(value) => setStep(value ?? '')}
                  data={stepChoices}
                  onDropdownOpen={() => setPicking(true)}
                  placeholder={t('campaign.lead.anyStep')}
                  aria-label={t('campaign.lead.anyStep')}
                  clearable
                  searchable
                  w={190}
                />
              </Group>
              {add}
            </Group>
            <PagedTable
              list={leads}
              minWidth={760}
              columns={[
                ...(mayBulk ? [selectColumn(selection)] : []),
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
                  <Row
                    key={lead.contact_id}
                    campaignId={id}
                    isRunning={isRunning}
                    lead={lead}
                    may={may}
                    selection={mayBulk ? selection : undefined}
                  />
                )),
              )}
            </PagedTable>
            {chosen.isAll || chosen.ids.size > 0 ? (
              <Suspense>
                <ContactBar
                  selection={selection}
                  campaign={id}
                  filters={{
                    campaign_ids: [id],
                    ...(q ? { query: q } : {}),
                    ...(status ? { lead_status: status } : {}),
                  }}
                  // The API can select contacts by their status in a campaign, but not by their step.
                  mayChooseAll={!step}
                />
              </Suspense>
            ) : null}
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
  selection,
}: {
  campaignId: string;
  isRunning: boolean;
  lead: Lead;
  may: boolean;
  selection: Selection | undefined;
}) {
  const t = useText();
  const { contact } = lead;
  const address = contact ? shownAddress(contact.email) : t('campaign.leads.erased');
  const name = (contact && [contact.first_name, contact.last_name].filter(Boolean).join(' ')) || address;
  const about = [name === address ? '' : address, contact?.company].filter(Boolean).join(' · ');
  return (
    <Table.Tr>
      {selection ? (
        <Table.Td>
          <SelectBox selection={selection} id={lead.contact_id} name={name} />
        </Table.Td>
      ) : null}
      <Table.Td maw={{ base: 190, sm: 240 }} className="clip">
        <PageLink to={`/campaigns/${campaignId}/leads/${lead.contact_id}`} size="sm" fw={600} title={address}>
          {name}
        </PageLink>
        {about ? (
          <Text size="xs" c="dimmed" className="clip" title={about}>
            {about}
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

/** Returns the name of a step, or of its kind if it has none. */
function nameOfStep(step: Step): string {
  return step.name.trim() || textOf('step.kind', typeOf(step));
}

/** Shows the reason for a lead's state: the reason why it has ended, is held, or waits. */
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
          <Menu.Item c="var(--mantine-color-error)" onClick={removal.open}>
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
