import { Button, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Form } from '../../components/form.tsx';
import { useText } from '../../text/index.ts';

/** Colours of the stages that a new pipeline begins with. */
const COLORS = ['#64748b', '#0ea5e9', '#8b5cf6', '#f59e0b'];

/** Button that creates a pipeline of four stages, which can be changed afterwards. The first one needs no name. */
export function NewPipeline({ isFirst = false, onDone }: { isFirst?: boolean; onDone: (id: string) => void }) {
  const t = useText();
  const [isOpen, dialog] = useDisclosure();
  const [name, setName] = useState('');
  const create = useAction(
    () =>
      dataOf(
        heron.POST('/v1/crm/pipelines', {
          body: {
            name: isFirst ? t('crm.first.name') : name,
            stages: ([1, 2, 3, 4] as const).map((at) => ({ name: t(`crm.first.stage.${at}`), color: COLORS[at - 1]! })),
          },
        }),
      ),
    {
      stale: [['deals']],
      isShown: !isFirst,
      onDone: ({ id }) => {
        setName('');
        dialog.close();
        onDone(id);
      },
    },
  );
  if (isFirst)
    return (
      <Button onClick={() => create.mutate()} loading={create.isPending}>
        {t('crm.first')}
      </Button>
    );
  return (
    <>
      <Button size="xs" variant="subtle" aria-haspopup="dialog" onClick={dialog.open}>
        {t('crm.pipeline.new')}
      </Button>
      {isOpen ? (
        <Dialog onClose={dialog.close} title={t('crm.pipeline.new')}>
          <Form act={create} submit={t('crm.pipeline.create')}>
            <TextInput
              label={t('crm.pipeline.name')}
              description={t('crm.pipeline.new.why')}
              required
              maxLength={255}
              data-autofocus
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
            />
          </Form>
        </Dialog>
      ) : null}
    </>
  );
}
