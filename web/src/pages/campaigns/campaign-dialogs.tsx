import { Button, Group, MultiSelect, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Form } from '../../components/form.tsx';
import { useGoTo } from '../../components/page-link.tsx';
import { ErrorNote } from '../../components/states.tsx';
import { useText } from '../../text/index.ts';
import type { CampaignDialogName, Managed } from './campaign-menu.tsx';
import { changeCampaign } from './change.ts';
import { foldersQuery } from './queries.ts';

interface DialogProps {
  campaign: Managed;
  close: () => void;
}

/** Dialog of a campaign's menu, selected by the name of the menu entry. */
export default function CampaignDialog({
  name,
  onDeleted,
  ...props
}: DialogProps & { name: CampaignDialogName; onDeleted?: (() => void) | undefined }) {
  switch (name) {
    case 'rename':
      return <Rename {...props} />;
    case 'duplicate':
      return <Duplicate {...props} />;
    case 'folders':
      return <Folders {...props} />;
    case 'delete':
      return <Delete {...props} onDeleted={onDeleted} />;
  }
}

function Rename({ campaign, close }: DialogProps) {
  const t = useText();
  const [name, setName] = useState(campaign.name);
  const rename = useAction(
    () => changeCampaign(campaign.id, { name }, { name: campaign.name }, t('campaign.renamed', { name })),
    { onDone: close },
  );
  return (
    <Dialog onClose={close} title={t('campaign.rename')}>
      <Form act={rename} submit={t('campaign.rename')}>
        <NameField value={name} onChange={setName} max={255} />
      </Form>
    </Dialog>
  );
}

function Duplicate({ campaign, close }: DialogProps) {
  const t = useText();
  const go = useGoTo();
  const [name, setName] = useState(() => t('campaign.duplicate.name', { name: campaign.name }).slice(0, COPY_NAME));
  const duplicate = useAction(
    () => dataOf(heron.POST('/v1/campaigns/{id}/duplicate', { params: { path: { id: campaign.id } }, body: { name } })),
    {
      stale: [['campaigns']],
      isShown: true,
      done: t('campaign.duplicated'),
      onDone: ({ id }) => {
        close();
        go(`/campaigns/${id}`);
      },
    },
  );
  return (
    <Dialog onClose={close} title={t('campaign.duplicate')}>
      <Form act={duplicate} submit={t('campaign.duplicate')}>
        <Text size="sm" c="dimmed">
          {t('campaign.duplicate.why')}
        </Text>
        <NameField value={name} onChange={setName} max={COPY_NAME} />
      </Form>
    </Dialog>
  );
}

/** Maximum length of a copy's name. */
const COPY_NAME = 50;

function NameField({ value, onChange, max }: { value: string; onChange: (name: string) => void; max: number }) {
  const t = useText();
  return (
    <TextInput
      label={t('campaigns.name')}
      required
      maxLength={max}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      data-autofocus
    />
  );
}

function Folders({ campaign, close }: DialogProps) {
  const t = useText();
  const folders = useQuery(foldersQuery);
  const [chosen, choose] = useState(campaign.folders);
  const [title, setTitle] = useState('');
  const create = useAction(() => dataOf(heron.POST('/v1/folders', { body: { title: title.trim() } })), {
    stale: [['folders']],
    isShown: true,
    onDone: ({ id }) => {
      setTitle('');
      choose((before) => [...before, id]);
    },
  });
  const file = useAction(
    () =>
      changeCampaign(
        campaign.id,
        { folders: chosen },
        { folders: campaign.folders },
        t('campaign.filed', { name: campaign.name }),
      ),
    { onDone: close },
  );
  return (
    <Dialog onClose={close} title={t('campaign.folders')}>
      <Form act={file} submit={t('save')}>
        <MultiSelect
          label={t('campaign.folders.in')}
          data={(folders.data ?? []).map((folder) => ({ value: folder.id, label: folder.title }))}
          value={chosen}
          onChange={choose}
          nothingFoundMessage={t('nothingFound')}
          searchable
          clearable
        />
        <Group align="flex-end" gap="xs">
          <TextInput
            label={t('campaign.folders.new')}
            maxLength={50}
            value={title}
            onChange={(event) => setTitle(event.currentTarget.value)}
            flex={1}
          />
          <Button
            variant="default"
            onClick={() => create.mutate()}
            loading={create.isPending}
            disabled={title.trim() === ''}
          >
            {t('campaigns.create')}
          </Button>
        </Group>
        <ErrorNote error={create.error} />
      </Form>
    </Dialog>
  );
}

function Delete({ campaign, close, onDeleted }: DialogProps & { onDeleted: (() => void) | undefined }) {
  const t = useText();
  const remove = useAction(
    () => dataOf(heron.DELETE('/v1/campaigns/{id}', { params: { path: { id: campaign.id } } })),
    {
      stale: [['campaigns', 'list'], ['campaigns', 'all'], ['checklist']],
      isShown: true,
      done: t('campaign.deleted'),
      onDone: () => {
        close();
        onDeleted?.();
      },
    },
  );
  return (
    <Dialog
      onClose={close}
      title={<span className="wrap-anywhere">{t('campaign.delete.ask', { name: campaign.name })}</span>}
    >
      <Stack>
        <Text size="sm">{t('campaign.delete.why')}</Text>
        <ErrorNote error={remove.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={close} data-autofocus>
            {t('cancel')}
          </Button>
          <Button color="red.9" onClick={() => remove.mutate()} loading={remove.isPending}>
            {t('campaign.delete')}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
