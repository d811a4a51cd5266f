import { Badge, ColorSwatch, Group, Paper, Select, Skeleton, Text } from '@mantine/core';
import IconBriefcase from 'tabler:briefcase';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { dataOf, heron, type ResultOf, type RowOf } from '../../app/api.ts';
import { shownAddress } from '../../components/address.ts';
import { useMembers } from '../../components/choices.ts';
import { useFilter } from '../../components/filter.ts';
import { isEmptyList, usePaged } from '../../components/paged.tsx';
import { SearchField } from '../../components/search-field.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { Moment } from '../../components/time.tsx';
import { PageLinkButton } from '../../components/page-link.tsx';
import { VirtualTable } from '../../components/virtual-table.tsx';
import { nameOf } from '../../components/name.ts';
import { toMoney } from '../../components/money.ts';
import { useText } from '../../text/index.ts';
import { sums, usePipelines, type Deal } from './deals.ts';
import { CrmPage } from './pages.tsx';

const STATUSES = ['open', 'won', 'lost'] as const;
type Summary = ResultOf<'/v1/crm/deals/summary'>;
const COLORS = { open: 'blue', won: 'teal', lost: 'gray' } as const;

/** Page of the deals of all pipelines, with their numbers and values. */
export default function DealsPage() {
  const t = useText();
  const filters = useFilters();
  const { q, status, stage, assigned } = filters.values;
  const body = {
    ...(q ? { query: q } : {}),
    ...(status ? { statuses: [status as (typeof STATUSES)[number]] } : {}),
    ...(stage ? { stage_ids: [stage] } : {}),
    ...(assigned ? { assigned_to: [assigned] } : {}),
  };
  const summary = useQuery({
    queryKey: ['deals', 'summary', body],
    placeholderData: keepPreviousData,
    queryFn: () => dataOf(heron.POST('/v1/crm/deals/summary', { body })),
  });
  const list = usePaged(['deals', 'list', q, status, stage, assigned], (cursor, signal) =>
    dataOf(
      heron.POST('/v1/crm/deals/search', {
        params: { query: { limit: 200, ...cursor } },
        body,
        signal,
      }),
    ),
  );
  const isNarrow = Boolean(q || status || stage || assigned);
  return (
    <CrmPage lead={t('crm.lead')}>
      <Answered query={list} skeleton={<ListSkeleton />}>
        {({ pages }) =>
          isEmptyList(list) && !isNarrow ? (
            <Empty
              icon={IconBriefcase}
              title={t('crm.noDeals')}
              action={<PageLinkButton to="/crm">{t('crm.toBoard')}</PageLinkButton>}
            >
              {t('crm.noDeals.why')}
            </Empty>
          ) : (
            <>
              <Filters filters={filters} />
              <Answered query={summary} skeleton={<Skeleton height={66} radius="md" />}>
                {(sum) => <Totals summary={sum} deals={pages.flatMap(({ data }) => data)} />}
              </Answered>
              <VirtualTable<Deal>
                list={list}
                minWidth={780}
                keyOf={({ id }) => id}
                columns={[
                  { label: t('crm.deal') },
                  { label: t('crm.contact'), width: '19%', isExtra: true },
                  { label: t('crm.stage'), width: '15%', isExtra: true },
                  { label: t('crm.status'), width: 90, isExtra: true },
                  { label: t('crm.value'), isNumber: true, width: 135 },
                  { label: t('crm.changed'), width: 130, isExtra: true },
                ]}
              >
                {cellsOf}
              </VirtualTable>
            </>
          )
        }
      </Answered>
    </CrmPage>
  );
}

/** Returns the filters from the URL, and functions to set them. */
function useFilters() {
  const [q, setQ] = useFilter('q');
  const [status, setStatus] = useFilter('status');
  const [stage, setStage] = useFilter('stage');
  const [assigned, setAssigned] = useFilter('assigned');
  return {
    values: { q, status, stage, assigned },
    set: { q: setQ, status: setStatus, stage: setStage, assigned: setAssigned },
  };
}

function Filters({ filters: { values, set } }: { filters: ReturnType<typeof useFilters> }) {
  const t = useText();
  const pipelines = usePipelines();
  const members = useMembers();
  return (
    <Group gap="xs">
      <SearchField label={t('crm.search')} value={values.q} onChange={set.q} />
      <Select
        value={values.status || null}
        onChange={(value) => set.status(value ?? '')}
        data={STATUSES.map((value) => ({ value, label: t(`crm.status.${value}`) }))}
        placeholder={t('crm.anyStatus')}
        aria-label={t('crm.anyStatus')}
        clearable
        w={150}
      />
      <Select
        value={values.stage || null}
        onChange={(value) => set.stage(value ?? '')}
        data={(pipelines.data ?? []).map(({ name, stages }) => ({
          group: name,
          items: stages.map(({ id, name: label }) => ({ value: id, label })),
        }))}
        placeholder={t('crm.anyStage')}
        aria-label={t('crm.anyStage')}
        clearable
        w={180}
      />
      <Select
        value={values.assigned || null}
        onChange={(value) => set.assigned(value ?? '')}
        data={members.data ?? []}
        placeholder={t('crm.anyone')}
        aria-label={t('crm.anyone')}
        clearable
        w={180}
      />
    </Group>
  );
}

/**
 * Shows the number and value of all matching deals by state. Amounts of different currencies are never added: if there
 * are several currencies, the values of the loaded deals are summed per currency.
 */
function Totals({ summary, deals }: { summary: Summary; deals: readonly Deal[] }) {
  const t = useText();
  const worthOf = (status: (typeof STATUSES)[number]) => {
    if (summary.mixed_currency) return sums(deals.filter((deal) => deal.status === status));
    const value = summary[`${status}_value`];
    return value > 0 ? [[summary.currency, value] as const] : [];
  };
  const rows = STATUSES.filter((status) => summary[`${status}_count`] > 0);
  if (rows.length === 0) return null;
  return (
    <Paper withBorder radius="md" px="lg" py="sm">
      <Group gap="xl">
        {rows.map((status) => (
          <div key={status}>
            <Text size="xs" c="dimmed" fw={600}>
              {t(`crm.sum.${status}`, { count: summary[`${status}_count`] })}
            </Text>
            <Text fw={600} className="figures">
              {worthOf(status)
                .map(([currency, value]) => toMoney(value, currency))
                .join(' · ') || t('crm.sum.none')}
            </Text>
          </div>
        ))}
        {summary.mixed_currency && summary.total > deals.length ? (
          <Text size="xs" c="dimmed">
            {t('crm.sum.part', { count: deals.length })}
          </Text>
        ) : null}
      </Group>
    </Paper>
  );
}

const cellsOf = (deal: Deal) => <Cells deal={deal} />;

function Cells({ deal }: { deal: RowOf<'/v1/crm/deals'> }) {
  const t = useText();
  const { contact } = deal;
  return (
    <>
      <td className="clip">
        <a href={`/crm/deals/${deal.id}`} title={deal.name}>
          {deal.name}
        </a>
      </td>
      <td className="clip">
        {contact ? (
          <a href={`/leads/${contact.id}`} title={contact.email}>
            {shownAddress(nameOf(contact))}
          </a>
        ) : null}
      </td>
      <td>
        <div className="line">
          <ColorSwatch size={8} color={deal.stage.color} withShadow={false} flex="none" />
          <span className="clip">{deal.stage.name}</span>
        </div>
      </td>
      <td>
        <Badge variant="light" color={COLORS[deal.status]} tt="none">
          {t(`crm.status.${deal.status}`)}
        </Badge>
      </td>
      <td className="clip number">{deal.value === null ? null : toMoney(deal.value, deal.currency)}</td>
      <td className="clip dimmed">
        <Moment at={deal.updated_at} />
      </td>
    </>
  );
}
