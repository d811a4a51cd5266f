import { Alert, Button, Progress, Select, Stack, Table, Text } from '@mantine/core';
import IconUsers from 'tabler:users';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';
import { useState } from 'react';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { useFilter } from '../../components/filter.ts';
import { useTags } from '../../components/choices.ts';
import { Section } from '../../components/section.tsx';
import { Answered, Empty, ErrorNote, ListSkeleton } from '../../components/states.tsx';
import { PageLink, type Address } from '../../components/page-link.tsx';
import { toNumber, toPercent, useText } from '../../text/index.ts';
import { LeadsPage } from './pages.tsx';

const VERDICTS = ['valid', 'risky', 'invalid', 'unknown'] as const;
const COLORS = { valid: 'teal.7', risky: 'yellow.6', invalid: 'red.7', unknown: 'gray.5' } as const;

/**
 * Page of the verification results of a list, with a button that verifies the remaining addresses. Events about
 * contacts refetch the results.
 */
export default function VerificationPage() {
  const t = useText();
  const mayWrite = useCan('manage_contacts');
  const [tag, setTag] = useFilter('tag');
  const [isOpened, open] = useState(false);
  const tags = useTags(isOpened || tag !== '');
  const inList = tag ? [{ field: 'category', operator: 'equal', values: [tag] }] : [];
  const facets = useQuery({
    queryKey: ['contacts', 'verification', tag],
    queryFn: () => dataOf(heron.POST('/v1/lead-database/facets', { body: { conditions: inList } })),
  });
  const people = (verdict: string): Address =>
    `/leads/database?where=${encodeURIComponent(
      JSON.stringify({
        match: 'all',
        conditions: [...inList, { field: 'verification_status', operator: 'equal', values: [verdict] }],
      }),
    )}`;
  return (
    <LeadsPage lead={t('leads.verify.lead')}>
      <Select
        label={t('leads.verify.list')}
        value={tag || null}
        onChange={(value) => setTag(value ?? '')}
        data={tags.data ?? []}
        onFocus={() => open(true)}
        placeholder={t('leads.verify.all')}
        clearable
        searchable
        maw={320}
      />
      <Answered query={facets} skeleton={<ListSkeleton rows={4} />}>
        {({ verification_status: found }) => {
          const countOf = (verdict: string) => found.find(({ key }) => key === verdict)?.count ?? 0;
          const total = VERDICTS.reduce((sum, verdict) => sum + countOf(verdict), 0);
          const open = countOf('unknown');
          if (total === 0)
            return (
              <Empty icon={IconUsers} title={t('leads.verify.none')}>
                {t('leads.verify.none.why')}
              </Empty>
            );
          return (
            <Section title={t('leads.verify.state', { done: total - open, total })}>
              <Stack gap="md">
                <Progress.Root size="lg" aria-hidden>
                  {VERDICTS.map((verdict) => (
                    <Progress.Section key={verdict} value={(countOf(verdict) / total) * 100} color={COLORS[verdict]} />
                  ))}
                </Progress.Root>
                <Table verticalSpacing="xs" maw={480}>
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>{t('leads.verify.result')}</Table.Th>
                      <Table.Th ta="right">{t('leads.people')}</Table.Th>
                      <Table.Td />
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {VERDICTS.map((verdict) => (
                      <Table.Tr key={verdict}>
                        <Table.Td>{t(`leads.verified.${verdict}`)}</Table.Td>
                        <Table.Td ta="right">
                          {countOf(verdict) > 0 ? (
                            <PageLink to={people(verdict)} inherit>
                              {toNumber(countOf(verdict))}
                            </PageLink>
                          ) : (
                            toNumber(0)
                          )}
                        </Table.Td>
                        <Table.Td ta="right" c="dimmed">
                          {countOf(verdict) > 0 ? toPercent(countOf(verdict) / total) : null}
                        </Table.Td>
                      </Table.Tr>
                    ))}
                  </Table.Tbody>
                </Table>
                {open === 0 ? (
                  <Text size="sm">{t('leads.verify.complete')}</Text>
                ) : mayWrite ? (
                  <Verify key={tag} tag={tag} open={open} />
                ) : null}
              </Stack>
            </Section>
          );
        }}
      </Answered>
    </LeadsPage>
  );
}

/** Button that verifies those addresses of a list that have no result yet. */
function Verify({ tag, open }: { tag: string; open: number }) {
  const t = useText();
  const verify = useAction(
    () =>
      dataOf(
        heron.POST('/v1/contacts/verification', {
          body: {
            action: 'verify',
            all: true,
            filters: { verification_status: 'unknown', ...(tag ? { category_ids: [tag] } : {}) },
          },
        }),
      ),
    { isShown: true },
  );
  const id = verify.data?.id ?? '';
  const progress = useQuery({
    queryKey: ['contacts', 'verification', 'progress', id],
    queryFn: () => dataOf(heron.GET('/v1/contacts/bulk-edits/{id}', { params: { path: { id } } })),
    enabled: id !== '',
  });
  const { changed = 0, pending = 0 } = progress.data ?? verify.data ?? {};
  if (verify.isSuccess)
    return (
      <Alert variant="light" color="blue" role="status" title={t('leads.verify.asked', { count: open })}>
        {t('leads.verify.asked.why')} {t('leads.verify.checked', { done: changed - pending, total: changed })}
      </Alert>
    );
  return (
    <>
      <ErrorNote error={verify.error} />
      <div>
        <Button onClick={() => verify.mutate()} loading={verify.isPending}>
          {t('leads.verify.start', { count: open })}
        </Button>
      </div>
    </>
  );
}
