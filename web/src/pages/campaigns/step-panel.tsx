import { ActionIcon, Alert, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import IconX from 'tabler:x';
import { useState, type ReactNode } from 'react';
import { dataOf, heron, queryClient, type BodyOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import type { Key } from '../../app/query-keys.ts';
import { useAction } from '../../components/action.ts';
import { ErrorNote } from '../../components/states.tsx';
import { textOf, useText } from '../../text/index.ts';
import { Branches } from './branches.tsx';
import { Confirm } from './confirm.tsx';
import { DraftFoot } from '../../components/draft-form.tsx';
import { useDraft } from '../../components/draft.ts';
import { branchesOf, conditionsText, typeOf, type Action, type Flow, type Step } from './flow.ts';
import { stepsQuery } from './queries.ts';
import { SendTest } from './send-test.tsx';
import { StepFiles } from './step-files.tsx';
import { StepIcon } from './step-card.tsx';
import { StepFields, NEW_STEPS } from './step-fields.tsx';
import { Variants } from './variants.tsx';

type Change = BodyOf<'/v1/campaigns/{id}/steps/{sid}', 'patch'>;
type NewStep = BodyOf<'/v1/campaigns/{id}/steps', 'post'>;

/** Editor of one step: content, links and position. */
export function StepPanel({
  id,
  step,
  steps,
  flow,
  standing,
  isRunning,
  mayWrite,
  close,
}: {
  id: string;
  step: Step;
  steps: readonly Step[];
  flow: Flow | undefined;
  standing: number;
  isRunning: boolean;
  mayWrite: boolean;
  close: () => void;
}) {
  const t = useText();
  const maySend = useCan('send_campaigns');
  const [isRemoving, removal] = useDisclosure();
  const { queryKey: key } = stepsQuery(id);
  const path = { params: { path: { id, sid: step.id } } };
  const stale: readonly Key[] = [['campaigns', id], ['flow', id], ['checklist']];
  const draft = useDraft<Step>({
    stored: step,
    write: async (changes, seen) => {
      const { warnings: _, ...row } = await dataOf(
        heron.PATCH('/v1/campaigns/{id}/steps/{sid}', {
          ...path,
          body: { ...(changes as Change), expected_updated_at: seen.updated_at },
        }),
      );
      queryClient.setQueryData<Step[]>(key, (rows) => rows?.map((one) => (one.id === row.id ? row : one)));
    },
    readAgain: async () => {
      const rows = await dataOf(heron.GET('/v1/campaigns/{id}/steps', { params: { path: { id } } }));
      queryClient.setQueryData(key, rows);
      return rows.find((one) => one.id === step.id);
    },
    stale,
    done: t('saved'),
  });
  const remove = useAction(() => dataOf(heron.DELETE('/v1/campaigns/{id}/steps/{sid}', path)), {
    stale,
    isShown: true,
    done: t('step.removed'),
    onDone: close,
  });
  const type = typeOf(step);
  const isFirst = steps[0]?.id === step.id;
  return (
    <Frame type={type} title={step.name.trim() || textOf('step.kind', type)} close={close}>
      <TextInput
        label={t('step.name')}
        value={draft.value.name}
        onChange={(event) => draft.change({ name: event.currentTarget.value })}
        disabled={!mayWrite}
      />
      <StepFields
        campaignId={id}
        step={draft.value}
        steps={steps}
        isFirst={isFirst}
        mayWrite={mayWrite}
        change={draft.change}
      />
      {type === 'email' ? <StepFiles campaignId={id} stepId={step.id} mayWrite={mayWrite} /> : null}
      {type === 'email' && maySend ? <SendTest campaignId={id} step={draft.value} /> : null}
      <Branches
        step={draft.value}
        steps={steps}
        mayWrite={mayWrite}
        change={(branches) => draft.change({ conditions: { ...draft.value.conditions, branches } })}
      />
      {mayWrite ? (
        <DraftFoot
          draft={draft}
          note={
            isRunning && draft.isChanged ? (
              <Alert color="yellow" variant="light" role="note" title={t('campaign.running.title')}>
                {t(step.kind === 'email' ? 'campaign.running.email' : 'campaign.running.step', { count: standing })}
              </Alert>
            ) : null
          }
          beside={
            <Button variant="subtle" color="red" ml="auto" onClick={removal.open}>
              {t('step.remove')}
            </Button>
          }
        />
      ) : null}
      {type === 'email' ? <Variants campaignId={id} step={step} flow={flow} /> : null}
      {mayWrite && steps.length > 1 ? <Move id={id} step={step} steps={steps} /> : null}
      <Confirm
        opened={isRemoving}
        close={removal.close}
        title={t('step.remove.ask')}
        action={t('step.remove')}
        act={remove}
      >
        {t('step.remove.why')}
        {isRunning && standing > 0 ? ` ${t('campaign.running.remove', { count: standing })}` : null}
      </Confirm>
    </Frame>
  );
}

/**
 * Editor of a new step. The step is stored only when it is saved, so that a running campaign never reaches an
 * incomplete step.
 */
export function NewStepPanel({
  id,
  type,
  steps,
  isRunning,
  close,
  onAdded,
}: {
  id: string;
  type: string;
  steps: readonly Step[];
  isRunning: boolean;
  close: () => void;
  onAdded: (id: string) => void;
}) {
  const t = useText();
  const [step, setStep] = useState(() => newStep(type, t('step.kind.email')));
  const [place, setPlace] = useState(() => (steps.length > 0 ? placeOf(steps.at(-1)!.id, null) : START));
  const add = useAction(
    () => {
      const { name, subject, body_plain, body_html, wait_after, kind, action } = step;
      const body = (
        kind === 'email' ? { name, kind, subject, body_plain, body_html, wait_after } : { name, action }
      ) as NewStep;
      return dataOf(
        heron.POST('/v1/campaigns/{id}/steps', {
          params: { path: { id } },
          body: { ...body, ...(steps.length > 0 ? { place: toPlace(place) } : {}) },
        }),
      );
    },
    {
      stale: [['campaigns', id], ['flow', id], ['checklist']],
      isShown: true,
      done: t('step.added'),
      onDone: ({ id: added }) => onAdded(added),
    },
  );
  return (
    <Frame type={type} title={t('step.new', { kind: textOf('step.kind', type) })} close={close}>
      <TextInput
        label={t('step.name')}
        value={step.name}
        onChange={(event) => setStep({ ...step, name: event.currentTarget.value })}
      />
      {steps.length > 0 ? (
        <Select
          label={t('step.place')}
          data={placesOf(steps, t)}
          value={place}
          onChange={(value) => setPlace(value ?? START)}
          allowDeselect={false}
        />
      ) : null}
      <StepFields
        campaignId={id}
        step={step}
        steps={steps}
        isFirst={steps.length === 0 || place === START}
        mayWrite
        change={(fields) => setStep({ ...step, ...fields })}
      />
      {isRunning ? (
        <Alert color="yellow" variant="light" role="note" title={t('campaign.running.title')}>
          {t('campaign.running.add')}
        </Alert>
      ) : null}
      <ErrorNote error={add.error} />
      <Group gap="xs">
        <Button onClick={() => add.mutate()} loading={add.isPending}>
          {t('step.add')}
        </Button>
        <Button variant="default" onClick={close}>
          {t('cancel')}
        </Button>
      </Group>
    </Frame>
  );
}

function Frame({
  type,
  title,
  close,
  children,
}: {
  type: string;
  title: string;
  close: () => void;
  children: ReactNode;
}) {
  const t = useText();
  return (
    <section className="sequence-panel" aria-label={title}>
      <Stack gap="md">
        <Group gap="xs" wrap="nowrap">
          <StepIcon type={type} />
          <Text fw={650} flex={1} className="clip">
            {title}
          </Text>
          <ActionIcon variant="subtle" color="gray" onClick={close} aria-label={t('step.close')}>
            <IconX size={16} />
          </ActionIcon>
        </Group>
        {children}
      </Stack>
    </section>
  );
}

/** Moves a step to another position immediately. The undo moves it back. */
function Move({ id, step, steps }: { id: string; step: Step; steps: readonly Step[] }) {
  const t = useText();
  const move = useAction(
    (value: string) =>
      dataOf(
        heron.PATCH('/v1/campaigns/{id}/steps/{sid}', {
          params: { path: { id, sid: step.id } },
          body: { place: toPlace(value) },
        }),
      ),
    {
      stale: [
        ['campaigns', id],
        ['flow', id],
      ],
      done: t('step.moved'),
    },
  );
  return (
    <Select
      label={t('step.move')}
      description={t('step.move.why')}
      placeholder={t('step.move.choose')}
      data={placesOf(
        steps.filter((one) => one.id !== step.id),
        t,
      )}
      value={null}
      onChange={(value) => value && move.mutate(value)}
      disabled={move.isPending}
    />
  );
}

const START = 'start';
const placeOf = (after: string, branch: number | null) => (branch === null ? after : `${after}/${branch}`);

function toPlace(value: string): { after: string | null; branch?: number } {
  const [after, branch] = value.split('/');
  return value === START ? { after: null } : { after: after!, ...(branch ? { branch: Number(branch) } : {}) };
}

/** Returns the possible positions of a step: at the beginning, after a step, or on one of its branches. */
function placesOf(steps: readonly Step[], t: ReturnType<typeof useText>): { value: string; label: string }[] {
  const places = steps.flatMap((step) => {
    if (typeOf(step) === 'end') return [];
    const name = step.name.trim() || textOf('step.kind', typeOf(step));
    const branches = branchesOf(step);
    if (branches.length < 2) return [{ value: placeOf(step.id, null), label: t('step.place.after', { name }) }];
    return branches.map((branch, at) => ({
      value: placeOf(step.id, at),
      label: t('step.place.branch', { name, when: conditionsText(branch) || t('sequence.always') }),
    }));
  });
  return [{ value: START, label: t('step.place.start') }, ...places];
}

function newStep(type: string, name: string): Step {
  const action = NEW_STEPS[type] as Action | undefined;
  return {
    id: '',
    name: type === 'email' ? name : '',
    subject: '',
    body_plain: '',
    body_html: '',
    body_sync: true,
    body_code: false,
    offer: '',
    angle: '',
    cta: '',
    wait_after: type === 'email' ? 3 : 0,
    thread_reply: true,
    position: 0,
    kind: type === 'email' ? 'email' : 'action',
    conditions: { branches: [] },
    action: action ?? null,
    created_at: '',
    updated_at: '',
  };
}
