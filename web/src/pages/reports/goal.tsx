import { Alert, Badge, Button, Group, List, Modal, SimpleGrid, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { dataOf, heron } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { Facts } from '../../components/facts.tsx';
import { Page } from '../../components/page.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { useText } from '../../text/index.ts';
import { conditionText } from './goal-conditions.tsx';
import { GoalForm, type Goal } from './goal-form.tsx';
import { GoalReplays } from './goal-replays.tsx';

/** Page of one goal: its definition, earlier versions, and replays. */
export default function GoalPage() {
  const t = useText();
  const { id } = useParams({ from: '/reports/goals/$id' });
  const may = useCan('manage_settings');
  const [isOpen, form] = useDisclosure();
  const goal = useQuery({
    queryKey: ['goals', id],
    queryFn: () => dataOf(heron.GET('/v1/goals/{id}', { params: { path: { id } } })),
  });
  const { data } = goal;
  return (
    <Page
      title={data?.name ?? t('goals.one')}
      lead={data ? <GoalState goal={data} /> : null}
      back={{ to: '/reports/goals', label: t('reports.page.goals') }}
      actions={
        data && may && data.archived_at === null ? (
          <>
            <Button variant="default" onClick={form.open}>
              {t('goals.edit')}
            </Button>
            <Archive goal={data} />
          </>
        ) : null
      }
    >
      <Answered query={goal} skeleton={<ListSkeleton rows={2} height={160} />}>
        {(found) => (
          <>
            {found.archived_at ? (
              <Alert color="gray" variant="light" role="note">
                {t('goals.archived.why')}
              </Alert>
            ) : null}
            <SimpleGrid cols={{ base: 1, md: found.revisions.length > 1 ? 2 : 1 }}>
              <Section title={t('goals.counts')}>
                <Definition definition={found.definition} />
              </Section>
              {found.revisions.length > 1 ? (
                <Section title={t('goals.revisions')}>
                  <Stack gap="md">
                    {found.revisions.slice(1).map(({ revision, definition, created_at: at }) => (
                      <div key={revision}>
                        <Group gap="xs" mb={4}>
                          <Text size="sm" fw={600}>
                            {t('goals.version', { number: revision })}
                          </Text>
                          <Text size="sm" c="dimmed">
                            <Ago at={at} />
                          </Text>
                        </Group>
                        <Definition definition={definition} />
                      </div>
                    ))}
                  </Stack>
                </Section>
              ) : null}
            </SimpleGrid>
            <GoalReplays goal={found} />
            <Modal opened={isOpen} onClose={form.close} title={t('goals.edit')} size="lg">
              <GoalForm goal={found} onDone={form.close} />
            </Modal>
          </>
        )}
      </Answered>
    </Page>
  );
}

function GoalState({ goal }: { goal: Goal }) {
  const t = useText();
  return (
    <Group gap={6}>
      {t(`goals.kind.${goal.kind}`)}
      {goal.is_primary ? (
        <Badge variant="light" tt="none">
          {t('goals.primary')}
        </Badge>
      ) : null}
    </Group>
  );
}

function Archive({ goal }: { goal: Goal }) {
  const t = useText();
  const archive = useAction(() => dataOf(heron.DELETE('/v1/goals/{id}', { params: { path: { id: goal.id } } })), {
    stale: [['goals'], ['reports']],
    isShown: true,
  });
  return (
    <ConfirmButton act={archive} label={t('goals.archive')} title={t('goals.archive.ask')}>
      {t('goals.archive.why')}
    </ConfirmButton>
  );
}

/** Shows the definition of a goal as text. */
function Definition({ definition }: { definition: Goal['definition'] }) {
  const t = useText();
  const { predicates, value_path: path, value_unit: unit, currency_path: currency, default_currency } = definition;
  return (
    <Facts
      rows={[
        [t('goals.event'), definition.event_name],
        [
          t('goals.conditions'),
          predicates.length === 0 ? (
            t('goals.conditions.none')
          ) : (
            <List size="sm">
              {predicates.map((predicate, at) => (
                <List.Item key={at}>{conditionText(predicate)}</List.Item>
              ))}
            </List>
          ),
        ],
        [t('goals.amount'), path === null ? null : t('goals.amount.of', { path, unit: t(`goals.unit.${unit}`) })],
        [t('goals.currency'), path === null ? null : [currency, default_currency].filter(Boolean).join(', ')],
      ]}
    />
  );
}
