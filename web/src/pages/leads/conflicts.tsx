import { Button, Group, SegmentedControl, Table, Text } from '@mantine/core';
import IconUsers from 'tabler:users';
import { dataOf, heron, queryClient, type RowOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { shownAddress } from '../../components/address.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { useFilter } from '../../components/filter.ts';
import { nameOf } from '../../components/name.ts';
import { PageLink } from '../../components/page-link.tsx';
import { PagedTable, isEmptyList, usePaged } from '../../components/paged.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { offerUndo } from '../../components/undo.tsx';
import { textOf, useText } from '../../text/index.ts';
import { LeadsPage } from './pages.tsx';

type Conflict = RowOf<'/v1/identity-conflicts'>;

/**
 * Page of identity conflicts: identifiers that belong to two people. For each, a member of the team merges the two
 * people or keeps them separate.
 */
export default function ConflictsPage() {
  const t = useText();
  const [status, setStatus] = useFilter('status');
  const isDismissed = status === 'dismissed';
  const list = usePaged(['people', 'conflicts', status], (cursor, signal) =>
    dataOf(
      heron.GET('/v1/identity-conflicts', {
        params: { query: { limit: 50, status: isDismissed ? 'dismissed' : 'open', ...cursor } },
        signal,
      }),
    ),
  );
  const mayResolve = useCan('manage_settings');
  return (
    <LeadsPage lead={t('leads.conflicts.lead')}>
      <Group>
        <SegmentedControl
          aria-label={t('leads.conflicts.which')}
          value={isDismissed ? 'dismissed' : 'open'}
          onChange={(value) => setStatus(value === 'open' ? '' : value)}
          data={[
            { value: 'open', label: t('leads.conflicts.open') },
            { value: 'dismissed', label: t('leads.conflicts.dismissed') },
          ]}
        />
      </Group>
      <Answered query={list} skeleton={<ListSkeleton />}>
        {({ pages }) =>
          isEmptyList(list) && !isDismissed ? (
            <Empty icon={IconUsers} title={t('leads.conflicts.empty')}>
              {t('leads.conflicts.empty.why')}
            </Empty>
          ) : (
            <PagedTable
              list={list}
              minWidth={760}
              columns={[
                { label: t('leads.conflicts.identifier') },
                { label: t('leads.conflicts.person'), isExtra: true },
                { label: t('leads.conflicts.other') },
                { label: t('leads.conflicts.since'), isExtra: true },
                ...(mayResolve ? [{ label: t('leads.conflicts.do'), isHidden: true }] : []),
              ]}
            >
              {pages.flatMap(({ data }) =>
                data.map((one) => (
                  <Table.Tr key={one.id}>
                    <Table.Td maw={{ base: 110, sm: 240 }} className="clip" title={one.value}>
                      {one.value}
                      <Text size="xs" c="dimmed">
                        {textOf('leads.conflicts.kind', one.kind)}
                      </Text>
                    </Table.Td>
                    <Table.Td maw={220} className="clip">
                      <Who id={one.contact_id} contact={one.contact} personId={one.person_id} />
                    </Table.Td>
                    <Table.Td maw={{ base: 110, sm: 220 }} className="clip">
                      <Who id={one.other_contact_id} contact={one.other_contact} personId={one.other_person_id} />
                    </Table.Td>
                    <Table.Td c="dimmed">
                      <Ago at={one.created_at} />
                    </Table.Td>
                    {mayResolve ? (
                      <Table.Td>
                        <Decide conflict={one} />
                      </Table.Td>
                    ) : null}
                  </Table.Tr>
                )),
              )}
            </PagedTable>
          )
        }
      </Answered>
    </LeadsPage>
  );
}

function Who({ id, contact, personId }: { id: string | null; contact: Conflict['contact']; personId: string }) {
  const t = useText();
  if (!id)
    return (
      <PageLink to={`/leads/people/${personId}`} size="sm" display="block" className="clip">
        {t('leads.conflicts.nobody')}
      </PageLink>
    );
  const name = contact ? shownAddress(nameOf(contact)) : t('leads.one');
  return (
    <PageLink to={`/leads/${id}`} size="sm" display="block" className="clip" title={contact?.email ?? ''}>
      {name}
    </PageLink>
  );
}

const refresh = () => queryClient.invalidateQueries({ queryKey: ['people'] });

function Decide({ conflict: { id, status, contact_id: own, other_contact_id: other } }: { conflict: Conflict }) {
  const t = useText();
  const params = { params: { path: { id } } };
  const reopen = useAction(() => dataOf(heron.POST('/v1/identity-conflicts/{id}/reopen', params)), {
    stale: [['people']],
    done: t('leads.conflicts.reopened'),
  });
  const dismiss = useAction(
    () => dataOf(heron.POST('/v1/identity-conflicts/{id}/resolve', { ...params, body: { action: 'dismiss' } })),
    {
      stale: [['people']],
      onDone: () =>
        offerUndo(t('leads.conflicts.kept'), async () => {
          await dataOf(heron.POST('/v1/identity-conflicts/{id}/reopen', params));
          await refresh();
        }),
    },
  );
  const merge = useAction(
    () => dataOf(heron.POST('/v1/identity-conflicts/{id}/resolve', { ...params, body: { action: 'merge' } })),
    { stale: [['people'], ['contacts']], done: t('leads.conflicts.merged'), isShown: true },
  );
  if (status === 'dismissed')
    return (
      <Button size="compact-xs" variant="default" onClick={() => reopen.mutate()} loading={reopen.isPending}>
        {t('leads.conflicts.reopen')}
      </Button>
    );
  return (
    <Group gap="xs" justify="flex-end">
      {own && other ? null : (
        <ConfirmButton
          label={t('leads.conflicts.merge')}
          title={t('leads.conflicts.merge.ask')}
          act={merge}
          size="compact-xs"
        >
          {t('leads.conflicts.merge.why')}
        </ConfirmButton>
      )}
      <Button size="compact-xs" variant="subtle" onClick={() => dismiss.mutate()} loading={dismiss.isPending}>
        {t('leads.conflicts.keep')}
      </Button>
    </Group>
  );
}
