import { Stack, Table, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { dataOf, heron, queryClient, type AnswerOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { shownAddress } from '../../components/address.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { DraftForm } from '../../components/draft-form.tsx';
import { useDraft } from '../../components/draft.ts';
import { Page } from '../../components/page.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { PageLink, useGoTo } from '../../components/page-link.tsx';
import { useText } from '../../text/index.ts';
import { complete, Conditions, type Audience } from './conditions.tsx';
import { nameOf } from './contacts.tsx';

type Segment = AnswerOf<'/v1/segments/{id}'>;
/** Segment as an editable draft; its conditions form one field. */
type Edited = Pick<Segment, 'name' | 'updated_at'> & { audience: Audience };
const NEW: Edited = { name: '', audience: { match: 'all', conditions: [] }, updated_at: '' };
const editedOf = ({ name, match, conditions, updated_at }: Segment): Edited => ({
  name,
  audience: { match, conditions },
  updated_at,
});

/** Page of one segment or a new one: its conditions and its current contacts. */
export default function SegmentPage() {
  const t = useText();
  const { id } = useParams({ from: '/leads/segments/$id' });
  const isNew = id === 'new';
  const segment = useQuery({
    queryKey: ['segments', id],
    queryFn: () => dataOf(heron.GET('/v1/segments/{id}', { params: { path: { id } } })),
    enabled: !isNew,
  });
  return (
    <Page
      title={isNew ? t('leads.segments.new') : (segment.data?.name ?? t('leads.segments.one'))}
      back={{ to: '/leads/segments', label: t('leads.segments') }}
    >
      {isNew ? (
        <Edit />
      ) : (
        <Answered query={segment} skeleton={<ListSkeleton rows={2} height={160} />}>
          {(data) => <Edit key={data.id} segment={data} />}
        </Answered>
      )}
    </Page>
  );
}

function Edit({ segment }: { segment?: Segment }) {
  const t = useText();
  const go = useGoTo();
  const mayWrite = useCan('manage_contacts');
  const draft = useDraft<Edited>({
    stored: segment ? editedOf(segment) : NEW,
    write: async (changes, seen) => {
      const { name, audience } = { ...seen, ...changes };
      const body = { name, ...complete(audience) };
      if (!segment) return go(`/leads/segments/${(await dataOf(heron.POST('/v1/segments', { body }))).id}`);
      const { id } = segment;
      const path = { params: { path: { id } } };
      const stored = await dataOf(
        heron.PATCH('/v1/segments/{id}', { ...path, body: { ...body, expected_updated_at: seen.updated_at } }),
      );
      queryClient.setQueryData(['segments', id], stored);
    },
    readAgain: async () => {
      const { id } = segment!;
      const stored = await dataOf(heron.GET('/v1/segments/{id}', { params: { path: { id } } }));
      queryClient.setQueryData(['segments', id], stored);
      return editedOf(stored);
    },
    stale: [['segments'], ['contacts', 'segment']],
    done: t('saved'),
  });
  const { name, audience } = draft.value;
  const remove = useAction(() => dataOf(heron.DELETE('/v1/segments/{id}', { params: { path: { id: segment!.id } } })), {
    stale: [['segments', 'list']],
    isShown: true,
    onDone: () => go('/leads/segments'),
  });
  const fields = (
    <>
      <TextInput
        label={t('leads.segments.name')}
        required
        maxLength={100}
        readOnly={!mayWrite}
        value={name}
        onChange={(event) => draft.change({ name: event.currentTarget.value })}
        maw={420}
      />
      {audience.conditions.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('leads.segments.all')}
        </Text>
      ) : null}
      <Conditions value={audience} onChange={(changed) => draft.change({ audience: changed })} readOnly={!mayWrite} />
    </>
  );
  return (
    <>
      <Section title={t('leads.segments.who')}>
        {mayWrite ? (
          <DraftForm
            draft={draft}
            say={{ audience: ({ conditions }) => t('theirs.audience', { count: conditions.length }) }}
            submit={segment ? undefined : t('save')}
            beside={
              segment ? (
                <ConfirmButton
                  label={t('leads.segments.remove')}
                  title={t('leads.segments.remove.ask', { name: segment.name })}
                  act={remove}
                  variant="subtle"
                  color="red"
                >
                  {t('leads.segments.remove.why')}
                </ConfirmButton>
              ) : null
            }
          >
            {fields}
          </DraftForm>
        ) : (
          <Stack>{fields}</Stack>
        )}
      </Section>
      <People audience={audience} />
    </>
  );
}

/** Shows the number of contacts that match the conditions now, and the first of them. */
function People({ audience }: { audience: Audience }) {
  const t = useText();
  const [asked] = useDebouncedValue(complete(audience), 300, { leading: true });
  const people = useQuery({
    queryKey: ['contacts', 'audience', asked.match, asked.conditions],
    placeholderData: keepPreviousData,
    queryFn: async () => {
      const [coverage, first] = await Promise.all([
        dataOf(heron.POST('/v1/lead-database/coverage', { body: asked })),
        dataOf(heron.POST('/v1/lead-database/people', { body: { ...asked, limit: 8, sort: 'created' } })),
      ]);
      return { coverage, first: first.data };
    },
  });
  return (
    <Section title={t('leads.segments.now')}>
      <Answered query={people} skeleton={<ListSkeleton rows={3} height={32} />}>
        {({ coverage, first }) => (
          <Stack gap="sm">
            <Text size="sm" role="status">
              <b>{t('leads.segments.count', { count: coverage.total })}</b>
              {coverage.total > 0 ? (
                <Text span inherit c="dimmed">
                  {` ${t('leads.segments.fresh', { count: coverage.fresh_reachable })}`}
                  {coverage.contacted > 0 ? ` ${t('leads.segments.contacted', { count: coverage.contacted })}` : ''}
                </Text>
              ) : null}
            </Text>
            {first.length > 0 ? (
              <Table.ScrollContainer minWidth={420} className="drops">
                <Table layout="fixed" className="drop-3">
                  <Table.Tbody>
                    {first.map((person) => (
                      <Table.Tr key={person.id}>
                        <Table.Td className="clip">
                          <PageLink to={`/leads/${person.id}`} size="sm" display="block" className="clip">
                            {nameOf(person) || shownAddress(person.email)}
                          </PageLink>
                        </Table.Td>
                        <Table.Td className="clip" c="dimmed" title={person.email}>
                          {nameOf(person) ? shownAddress(person.email) : null}
                        </Table.Td>
                        <Table.Td className="clip" c="dimmed">
                          {person.company}
                        </Table.Td>
                      </Table.Tr>
                    ))}
                  </Table.Tbody>
                </Table>
              </Table.ScrollContainer>
            ) : null}
            {coverage.total > 0 ? (
              <PageLink to={`/leads/database?where=${encodeURIComponent(JSON.stringify(asked))}`} size="sm">
                {t('leads.segments.everyone')}
              </PageLink>
            ) : null}
          </Stack>
        )}
      </Answered>
    </Section>
  );
}
