import { Anchor, Badge, Button, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';
import { Section } from '../../components/section.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { useText } from '../../text/index.ts';

const COLORS = { running: 'blue', success: 'teal', error: 'red' } as const;

/** Loads the latest runs of an automation, once they are wanted. */
export function useRuns(id: string, isWanted = true) {
  return useQuery({
    queryKey: ['automations', id, 'runs'],
    enabled: isWanted,
    queryFn: () => dataOf(heron.GET('/v1/automations/{id}/runs', { params: { path: { id }, query: { limit: 50 } } })),
  });
}

/** List of an automation's runs with their results. One run can be shown in the graph. */
export function Runs({ id, shown, onShow }: { id: string; shown: string; onShow: (id: string) => void }) {
  const t = useText();
  const runs = useRuns(id);
  return (
    <Section title={t('automations.runs')}>
      <Answered query={runs} skeleton={<ListSkeleton rows={3} />}>
        {({ runs: rows }) =>
          rows.length === 0 ? (
            <Text size="sm" c="dimmed">
              {t('automations.runs.none')}
            </Text>
          ) : (
            <Table.ScrollContainer minWidth={560}>
              <Table layout="fixed">
                <Table.Tbody>
                  {rows.map((run) => (
                    <Table.Tr key={run.id}>
                      <Table.Td w={140} c="dimmed">
                        <Ago at={run.started_at} />
                      </Table.Td>
                      <Table.Td w={130}>
                        <Badge variant="light" color={COLORS[run.status]} tt="none">
                          {t(`automations.run.${run.status}`)}
                        </Badge>
                      </Table.Td>
                      <Table.Td className="wrap-anywhere" c="dimmed">
                        {run.blocked_reason ?? run.error_detail ?? ''}
                      </Table.Td>
                      <Table.Td w={210} ta="right">
                        {run.temporal_url ? (
                          <Anchor href={run.temporal_url} size="sm" mr="sm" target="_blank" rel="noreferrer">
                            {t('automations.temporal')}
                          </Anchor>
                        ) : null}
                        <Button
                          size="compact-xs"
                          variant="default"
                          aria-pressed={run.id === shown}
                          onClick={() => onShow(run.id === shown ? '' : run.id)}
                        >
                          {t('automations.run.show')}
                        </Button>
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
