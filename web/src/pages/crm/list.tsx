import { Badge, ColorSwatch, Group, Paper, Select, Text } from '@mantine/core';
import IconBriefcase from 'tabler:briefcase';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
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
const COLORS = { open: 'blue', won: 'teal', lost: 'gray' } as const;

/** Page of the deals of all pipelines, with the sum of the loaded ones per currency. */
export default function DealsPage() {
  const t = useText();
  const filters = useFilters();
  const { q, status, stage, assigned } = filters.values;
  const list = usePaged(['deals', 'list', q, status, stage, assigned], (cursor, signal) =>
    dataOf(
      heron.POST('/v1/crm/deals/search', {
        params: { query: { limit: 200, ...cursor } },
        body: {
          ...(q ? { query: q } : {}),
          ...(status ? { statuses: [status as (typeof STATUSES)[number]] } : {}),
          ...(stage ? { stage_ids: [stage] } : {}),
          ...(assigned ? { assigned_to: [assigned] } : {}),
        },
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
              <Totals deals={pages.flatMap(({ data }) => data)} total={pages[0]?.pagination.total ?? null} />
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

/** Returns the filters of the address and their setters. */
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

/** Sums of the loaded deals by currency and state. Amounts of different currencies are never added. */
function Totals({ deals, total }: { deals: readonly Deal[]; total: number | null }) {
  const t = useText();
  const rows = STATUSES.flatMap((status) => {
    const of = deals.filter((deal) => deal.status === status);
    return of.length > 0 ? [{ status, count: of.length, worth: sums(of) }] : [];
  });
  if (rows.length === 0) return null;
  return (
    <Paper withBorder radius="md" px="lg" py="sm">
      <Group gap="xl">
        {rows.map(({ status, count, worth }) => (
          <div key={status}>
            <Text size="xs" c="dimmed" fw={600}>
              {t(`crm.sum.${status}`, { count })}
            </Text>
            <Text fw={600} className="figures">
              {worth.length > 0
                ? worth.map(([currency, value]) => toMoney(value, currency)).join(' · ')
                : t('crm.sum.none')}
            </Text>
          </div>
        ))}
        {total !== null && total > deals.length ? (
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
            {nameOf(contact)}
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
