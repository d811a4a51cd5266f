import { ActionIcon, Menu } from '@mantine/core';
import IconArchive from 'tabler:archive';
import IconCopy from 'tabler:copy';
import IconDots from 'tabler:dots';
import IconFolder from 'tabler:folder';
import IconPencil from 'tabler:pencil';
import IconTrash from 'tabler:trash';
import { lazy, Suspense, useState } from 'react';
import { useText } from '../../text/index.ts';
import { changeCampaign } from './change.ts';
import type { Campaign } from './flow.ts';

const loadDialogs = () => import('./campaign-dialogs.tsx');
const CampaignDialog = lazy(loadDialogs);

export type CampaignDialogName = 'rename' | 'duplicate' | 'folders' | 'delete';
/** Fields of a campaign that its menu needs. */
export type Managed = Pick<Campaign, 'id' | 'name' | 'status' | 'archived' | 'folders'>;

/** Menu of a campaign: rename, duplicate, move to a folder, archive and delete. */
export function CampaignMenu({ campaign, onDeleted }: { campaign: Managed; onDeleted?: () => void }) {
  const t = useText();
  const [open, setOpen] = useState<CampaignDialogName | null>(null);
  const { id, name, status, archived } = campaign;
  const file = () =>
    void changeCampaign(
      id,
      { archived: !archived },
      { archived },
      t(archived ? 'campaign.restored' : 'campaign.archived', { name }),
    );
  return (
    <>
      <Menu position="bottom-end" onOpen={() => void loadDialogs()}>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('campaign.actions', { name })}>
            <IconDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconPencil size={15} />} onClick={() => setOpen('rename')}>
            {t('campaign.rename')}
          </Menu.Item>
          <Menu.Item leftSection={<IconCopy size={15} />} onClick={() => setOpen('duplicate')}>
            {t('campaign.duplicate')}
          </Menu.Item>
          <Menu.Item leftSection={<IconFolder size={15} />} onClick={() => setOpen('folders')}>
            {t('campaign.folders')}
          </Menu.Item>
          <Menu.Item
            leftSection={<IconArchive size={15} />}
            disabled={status === 'active'}
            title={status === 'active' ? t('campaign.archive.active') : undefined}
            onClick={file}
          >
            {t(archived ? 'campaign.restore' : 'campaign.archive')}
          </Menu.Item>
          <Menu.Item
            c="var(--mantine-color-error)"
            leftSection={<IconTrash size={15} />}
            onClick={() => setOpen('delete')}
          >
            {t('campaign.delete')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {open ? (
        <Suspense>
          <CampaignDialog name={open} campaign={campaign} close={() => setOpen(null)} onDeleted={onDeleted} />
        </Suspense>
      ) : null}
    </>
  );
}
