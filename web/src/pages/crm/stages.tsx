import { ActionIcon, Button, ColorInput, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import IconDown from 'tabler:arrow-down';
import IconUp from 'tabler:arrow-up';
import IconX from 'tabler:x';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import type { Key } from '../../app/query-keys.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { offProps } from '../../components/focus.ts';
import { NameField } from '../../components/name-field.tsx';
import { ErrorNote } from '../../components/states.tsx';
import { useText } from '../../text/index.ts';
import type { Pipeline, Stage } from './deals.ts';

const stale: readonly Key[] = [['deals']];

/** Editor of a pipeline and its stages: names, colours and order. Each change is saved immediately. */
export function EditStages({ pipeline }: { pipeline: Pipeline }) {
  const t = useText();
  const [isOpen, dialog] = useDisclosure();
  const [name, setName] = useState('');
  const path = { params: { path: { id: pipeline.id } } };
  const add = useAction(
    () => dataOf(heron.POST('/v1/crm/pipelines/{id}/stages', { ...path, body: { name, color: '#64748b' } })),
    { stale, isShown: true, onDone: () => setName('') },
  );
  const rename = useAction(
    (to: string) => dataOf(heron.PATCH('/v1/crm/pipelines/{id}', { ...path, body: { name: to } })),
    { stale },
  );
  const remove = useAction(() => dataOf(heron.DELETE('/v1/crm/pipelines/{id}', path)), {
    stale,
    isShown: true,
    done: t('crm.pipeline.removed'),
    onDone: dialog.close,
  });
  return (
    <>
      <Button size="xs" variant="subtle" aria-haspopup="dialog" onClick={dialog.open}>
        {t('crm.stages')}
      </Button>
      <Modal opened={isOpen} onClose={dialog.close} title={t('crm.stages')} size="lg">
        <Stack gap="sm">
          <NameField label={t('crm.pipeline.name')} name={pipeline.name} rename={rename.mutate} />
          {pipeline.stages.map((stage, at) => (
            <EditStage key={stage.id} stage={stage} isFirst={at === 0} isLast={at === pipeline.stages.length - 1} />
          ))}
          <form
            onSubmit={(event) => {
              event.preventDefault();
              add.mutate();
            }}
          >
            <Group gap="xs" align="flex-end">
              <TextInput
                label={t('crm.stage.new')}
                required
                maxLength={255}
                value={name}
                onChange={(event) => setName(event.currentTarget.value)}
                flex={1}
              />
              <Button type="submit" variant="default" loading={add.isPending}>
                {t('crm.stage.add')}
              </Button>
            </Group>
          </form>
          <ErrorNote error={add.error} />
          <Group>
            <ConfirmButton
              label={t('crm.pipeline.remove')}
              title={t('crm.pipeline.remove.ask', { name: pipeline.name })}
              act={remove}
              size="xs"
              c="red"
            >
              {t('crm.pipeline.remove.why')}
            </ConfirmButton>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}

function EditStage({ stage, isFirst, isLast }: { stage: Stage; isFirst: boolean; isLast: boolean }) {
  const t = useText();
  const path = { params: { path: { id: stage.pipeline_id, stageId: stage.id } } };
  const change = useAction(
    (body: { name?: string; color?: string; position?: number }) =>
      dataOf(heron.PATCH('/v1/crm/pipelines/{id}/stages/{stageId}', { ...path, body })),
    { stale },
  );
  const remove = useAction(() => dataOf(heron.DELETE('/v1/crm/pipelines/{id}/stages/{stageId}', path)), { stale });
  const { name } = stage;
  return (
    <Group gap="xs" wrap="nowrap">
      <NameField
        aria-label={t('crm.stage.name')}
        name={name}
        rename={(value, done) => change.mutate({ name: value }, done)}
        flex={1}
      />
      <ColorInput
        withEyeDropper={false}
        aria-label={t('crm.stage.color', { name })}
        defaultValue={stage.color}
        format="hex"
        w={130}
        onChangeEnd={(color) => change.mutate({ color })}
      />
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t('crm.stage.earlier', { name })}
        {...offProps(isFirst, () => change.mutate({ position: stage.position - 1 }))}
      >
        <IconUp size={16} />
      </ActionIcon>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t('crm.stage.later', { name })}
        {...offProps(isLast, () => change.mutate({ position: stage.position + 1 }))}
      >
        <IconDown size={16} />
      </ActionIcon>
      <ActionIcon
        variant="subtle"
        color="red"
        aria-label={t('crm.stage.remove', { name })}
        onClick={() => remove.mutate()}
      >
        <IconX size={16} />
      </ActionIcon>
    </Group>
  );
}
