import { Button, Grid, Group, JsonInput, Modal, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import IconPlay from 'tabler:player-play';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { dataOf, heron, queryClient } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { useDraft } from '../../components/draft.ts';
import { useFilter } from '../../components/filter.ts';
import { Form } from '../../components/form.tsx';
import { Page } from '../../components/page.tsx';
import { SaveButtons } from '../../components/save-buttons.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, ErrorNote, ListSkeleton } from '../../components/states.tsx';
import { ConcurrentChanges } from '../../components/concurrent-changes.tsx';
import { useGoTo } from '../../components/page-link.tsx';
import { useText } from '../../text/index.ts';
import { editedOf, flowOf, useMayChange, type Automation, type Draft, type Edited, type Result } from './flow.ts';
import { WhenSeen } from '../../components/when-seen.tsx';
import { NodePanel } from './node-panel.tsx';
import { Runs, useRuns } from './runs.tsx';
import { useChoices } from './choices.ts';
import { summaryOf } from './summary.ts';

const Picture = lazy(() => import('./graph.tsx'));

/** Page of one automation: its graph with the panel of the selected node, a dry run, and its runs. */
export default function AutomationPage() {
  const t = useText();
  const { id } = useParams({ from: '/automations/$id' });
  const mayChange = useMayChange();
  const one = useQuery({
    queryKey: ['automations', id],
    queryFn: () => dataOf(heron.GET('/v1/automations/{id}', { params: { path: { id } } })),
  });
  const automation = one.data?.automation;
  return (
    <Page
      title={automation?.name ?? t('automations.one')}
      back={{ to: '/automations', label: t('nav.automations') }}
      actions={automation && mayChange ? <Remove automation={automation} /> : null}
    >
      <Answered query={one} skeleton={<ListSkeleton rows={2} height={260} />}>
        {(data) => <Editor key={id} automation={data.automation} mayChange={mayChange} />}
      </Answered>
    </Page>
  );
}

function Remove({ automation }: { automation: Automation }) {
  const t = useText();
  const go = useGoTo();
  const remove = useAction(
    () => dataOf(heron.DELETE('/v1/automations/{id}', { params: { path: { id: automation.id } } })),
    { stale: [['automations', 'list']], isShown: true, onDone: () => go('/automations') },
  );
  return (
    <ConfirmButton
      label={t('automations.delete')}
      title={t('automations.delete.ask', { name: automation.name })}
      act={remove}
      c="red"
    >
      {t('automations.delete.why')}
    </ConfirmButton>
  );
}

function Editor({ automation, mayChange }: { automation: Automation; mayChange: boolean }) {
  const t = useText();
  const { id } = automation;
  const path = { params: { path: { id } } };
  const edit = useDraft<Edited>({
    stored: editedOf(automation),
    write: async (changes, { updated_at: expected_updated_at, ...before }) => {
      const { flow, ...rest } = { ...before, ...changes };
      const stored = await dataOf(
        heron.PATCH('/v1/automations/{id}', { ...path, body: { ...rest, ...flow, expected_updated_at } }),
      );
      queryClient.setQueryData(['automations', id], stored);
    },
    readAgain: async () => {
      const stored = await dataOf(heron.GET('/v1/automations/{id}', path));
      queryClient.setQueryData(['automations', id], stored);
      return editedOf(stored.automation);
    },
    stale: [['automations']],
    done: t('saved'),
  });
  const draft: Draft = { name: edit.value.name, enabled: edit.value.enabled, ...edit.value.flow };
  const [chosen, choose] = useFilter('node');
  const [runId, chooseRun] = useFilter('run');
  const [trace, setTrace] = useState<readonly Result[]>();
  const runs = useRuns(id, runId !== '');
  const run = runs.data?.runs.find((each) => each.id === runId);
  const results = trace ?? run?.node_results;
  const node = draft.graph.nodes.find((each) => each.id === chosen) ?? draft.graph.nodes[0]!;
  const choices = useChoices(draft, mayChange ? node : undefined);
  const change = mayChange
    ? (next: Draft) => {
        setTrace(undefined);
        edit.change({ name: next.name, enabled: next.enabled, flow: flowOf(next) });
      }
    : undefined;
  return (
    <>
      <Group gap="md" justify="space-between" align="flex-end">
        <Group gap="md" align="flex-end" flex="1 1 20rem">
          <TextInput
            label={t('automations.name')}
            value={draft.name}
            maxLength={255}
            readOnly={!mayChange}
            onChange={(event) => change?.({ ...draft, name: event.currentTarget.value })}
            flex="1 1 12rem"
            maw={380}
          />
          <Switch
            label={t('automations.on')}
            mb={8}
            checked={draft.enabled}
            disabled={!mayChange}
            onChange={(event) => change?.({ ...draft, enabled: event.currentTarget.checked })}
          />
        </Group>
        {mayChange ? (
          <Group gap="xs">
            <DryRun
              id={id}
              isStale={edit.isChanged}
              onTrace={(traced) => {
                chooseRun('');
                setTrace(traced);
              }}
            />
            <SaveButtons
              act={edit.save}
              isChanged={edit.isChanged}
              isHeld={edit.theirs !== null}
              discard={edit.reset}
            />
          </Group>
        ) : null}
      </Group>
      <ConcurrentChanges
        draft={edit}
        say={{
          flow: (flow) =>
            `${summaryOf(flow, flow.graph.nodes[0]!, choices).title}: ${t('automations.theirs.steps', { count: flow.graph.nodes.length - 1 })}`,
        }}
      />
      <ErrorNote error={edit.save.error} />
      {results ? (
        <Group gap="xs" role="status">
          <Text size="sm">{t(trace ? 'automations.dry.shown' : 'automations.run.shown')}</Text>
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => {
              setTrace(undefined);
              chooseRun('');
            }}
          >
            {t('automations.hide')}
          </Button>
        </Group>
      ) : null}
      <Grid>
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Suspense fallback={<ListSkeleton rows={1} height={420} />}>
            <Picture
              draft={draft}
              choices={choices}
              chosen={node.id}
              choose={choose}
              results={results}
              onMove={
                mayChange
                  ? (moved, { x, y }) =>
                      edit.change({
                        flow: {
                          ...flowOf(draft),
                          graph: {
                            ...draft.graph,
                            nodes: draft.graph.nodes.map((each) => (each.id === moved ? { ...each, x, y } : each)),
                          },
                        },
                      })
                  : undefined
              }
            />
          </Suspense>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Section title={summaryOf(draft, node, choices).title}>
            <NodePanel
              key={node.id}
              draft={draft}
              choices={choices}
              node={node}
              result={results?.find(({ node_id }) => node_id === node.id)}
              onChange={change}
              choose={choose}
            />
          </Section>
        </Grid.Col>
      </Grid>
      <WhenSeen height={200}>
        <Runs
          id={id}
          shown={runId}
          onShow={(shownRun) => {
            setTrace(undefined);
            chooseRun(shownRun);
          }}
        />
      </WhenSeen>
    </>
  );
}

/** Dry-runs the saved flow with a sample or the person's own data. */
function DryRun({
  id,
  isStale,
  onTrace,
}: {
  id: string;
  isStale: boolean;
  onTrace: (trace: readonly Result[]) => void;
}) {
  const t = useText();
  const [isOpen, dialog] = useDisclosure();
  const [json, setJson] = useState('');
  const dry = useAction(
    async () =>
      dataOf(
        heron.POST('/v1/automations/{id}/test', {
          params: { path: { id } },
          body: json.trim() ? { data: JSON.parse(json) as Record<string, unknown> } : {},
        }),
      ),
    {
      isShown: true,
      onDone: ({ trace, data }) => {
        setJson(JSON.stringify(data, null, 2));
        onTrace(trace);
        dialog.close();
      },
    },
  );
  return (
    <>
      <Button variant="default" leftSection={<IconPlay size={16} />} aria-haspopup="dialog" onClick={dialog.open}>
        {t('automations.dry')}
      </Button>
      <Modal opened={isOpen} onClose={dialog.close} title={t('automations.dry')} size="lg">
        <Form act={dry} submit={t('automations.dry.do')}>
          <Stack gap="xs">
            <Text size="sm">{t('automations.dry.why')}</Text>
            {isStale ? (
              <Text size="sm" fw={600}>
                {t('automations.dry.stale')}
              </Text>
            ) : null}
          </Stack>
          <JsonInput
            label={t('automations.dry.data')}
            description={t('automations.dry.data.why')}
            validationError={t('automations.config.bad')}
            autosize
            minRows={4}
            maxRows={14}
            value={json}
            onChange={setJson}
          />
        </Form>
      </Modal>
    </>
  );
}
