import { Box, Button, Group, Menu, SegmentedControl, Skeleton, Stack, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import IconPlus from 'tabler:plus';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { useCan } from '../../app/person.ts';
import { useFilter } from '../../components/filter.ts';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { textOf, useText } from '../../text/index.ts';
import { branchesOf, conditionsText, shareOf, type Flow, type Step } from './flow.ts';
import { stepsQuery, useFlow } from './queries.ts';
import { StepCard, StepIcon } from './step-card.tsx';

/** Loads the step editor when a step is opened. */
const loadPanel = () => import('./step-panel.tsx');
const StepPanel = lazy(async () => ({ default: (await loadPanel()).StepPanel }));
const NewStepPanel = lazy(async () => ({ default: (await loadPanel()).NewStepPanel }));
const Graph = lazy(() => import('./graph.tsx'));
/** Kinds of steps in the order of the menu. */
const KINDS = [
  'email',
  'wait',
  'wait_for_event',
  'app_action',
  'add_tag',
  'remove_tag',
  'notify',
  'create_task',
  'create_deal',
  'move_deal_stage',
  'run_automation',
  'unsubscribe',
  'end',
] as const;
/** Shows the sequence as a graph or a list, with the editor of the selected step. View and selection are in the URL. */
export default function Sequence({ id, isRunning }: { id: string; isRunning: boolean }) {
  const t = useText();
  const mayWrite = useCan('manage_campaigns');
  const isNarrow = useMediaQuery('(max-width: 62em)') ?? false;
  const [view, setView] = useFilter('view');
  const [chosen, choose] = useFilter('step');
  const steps = useQuery(stepsQuery(id));
  const flow = useFlow(id, isRunning);
  const isList = isNarrow || view === 'list';
  if (chosen) void loadPanel();
  return (
    <Answered query={steps} skeleton={<ListSkeleton rows={3} height={92} />}>
      {(rows) => {
        const step = rows.find((one) => one.id === chosen);
        const isNew = chosen.startsWith('new-') && mayWrite;
        const isOpen = step !== undefined || isNew;
        const close = () => choose('');
        return (
          <div className="sequence" data-open={isOpen}>
            {isOpen && isNarrow ? null : (
              <Stack gap="sm" miw={0}>
                <Group justify="space-between">
                  {isNarrow ? null : (
                    <SegmentedControl
                      size="xs"
                      aria-label={t('sequence.view')}
                      value={view || 'graph'}
                      onChange={(value) => setView(value === 'list' ? 'list' : '')}
                      data={[
                        { value: 'graph', label: t('sequence.view.graph') },
                        { value: 'list', label: t('sequence.view.list') },
                      ]}
                    />
                  )}
                  {mayWrite ? <AddStep choose={choose} /> : null}
                </Group>
                {rows.length === 0 ? (
                  <Text size="sm" c="dimmed">
                    {t('sequence.empty')}
                  </Text>
                ) : isList ? (
                  <Outline steps={rows} flow={flow.data} chosen={chosen} choose={choose} />
                ) : (
                  <Suspense fallback={<Skeleton height={420} radius="md" />}>
                    <Graph steps={rows} flow={flow.data} chosen={chosen} choose={choose} />
                  </Suspense>
                )}
              </Stack>
            )}
            {step ? (
              <StepPanel
                key={step.id}
                id={id}
                step={step}
                steps={rows}
                standing={flow.data?.steps.find(({ step_id }) => step_id === step.id)?.standing ?? 0}
                flow={flow.data}
                isRunning={isRunning}
                mayWrite={mayWrite}
                close={close}
              />
            ) : isNew ? (
              <NewStepPanel
                key={chosen}
                id={id}
                type={chosen.slice('new-'.length)}
                steps={rows}
                isRunning={isRunning}
                close={close}
                onAdded={choose}
              />
            ) : null}
          </div>
        );
      }}
    </Answered>
  );
}

function AddStep({ choose }: { choose: (id: string) => void }) {
  const t = useText();
  return (
    <Menu position="bottom-start" width={260}>
      <Menu.Target>
        <Button size="xs" variant="default" leftSection={<IconPlus size={14} />}>
          {t('sequence.add')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {KINDS.map((type) => (
          <Menu.Item key={type} leftSection={<StepIcon type={type} />} onClick={() => choose(`new-${type}`)}>
            {textOf('step.kind', type)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Shows the sequence as a list, each step with its links below. */
function Outline({
  steps,
  flow,
  chosen,
  choose,
}: {
  steps: readonly Step[];
  flow: Flow | undefined;
  chosen: string;
  choose: (id: string) => void;
}) {
  const t = useText();
  const nameOf = (id: string | null) => {
    const step = steps.find((one) => one.id === id);
    return step ? step.name.trim() || t('sequence.unnamed') : t('sequence.end');
  };
  return (
    <ol className="sequence-list">
      {steps.map((step, at) => {
        const branches = branchesOf(step);
        const isPlain =
          branches.length <= 1 &&
          !branches[0]?.when?.length &&
          (branches[0]?.to ?? null) === (steps[at + 1]?.id ?? null);
        return (
          <li key={step.id}>
            <StepCard
              step={step}
              flow={flow}
              isFirst={at === 0}
              isChosen={step.id === chosen}
              choose={() => choose(step.id)}
            />
            <Box className="sequence-links">
              {branches.map((branch, index) => {
                const share = shareOf(flow, step.id, branch.to);
                if (isPlain && share === '') return null;
                return (
                  <Text key={index} size="xs" c="dimmed" className="wrap-anywhere">
                    {isPlain
                      ? t('sequence.wentOn', { share })
                      : [
                          conditionsText(branch) || (branches.length > 1 ? t('sequence.always') : ''),
                          `→ ${nameOf(branch.to)}`,
                          share,
                        ]
                          .filter(Boolean)
                          .join(' ')}
                  </Text>
                );
              })}
            </Box>
          </li>
        );
      })}
    </ol>
  );
}
