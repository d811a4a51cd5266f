import { Button } from '@mantine/core';
import IconArchive from 'tabler:archive';
import IconScale from 'tabler:scale';
import { dataOf, heron } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { BulkBar } from '../../components/bulk/bar.tsx';
import { PageLinkButton } from '../../components/page-link.tsx';
import { offerUndo } from '../../components/undo.tsx';
import { useChosen, type Selection } from '../../hooks/selection.ts';
import { useText } from '../../text/index.ts';
import { refreshCampaigns } from './change.ts';

/** Minimum and maximum number of campaigns in one comparison. */
const FEWEST = 2;
const MOST = 10;

/** Bar of the chosen campaigns, with buttons to compare and to archive them. */
export default function CampaignBar({ selection }: { selection: Selection }) {
  const t = useText();
  const maySee = useCan('view_analytics');
  const mayWrite = useCan('manage_campaigns');
  const { ids } = useChosen(selection);
  const isComparable = ids.size >= FEWEST && ids.size <= MOST;
  const archive = useAction(
    async (archived: boolean) => {
      const chosen = [...ids];
      const put = async (to: boolean) => {
        for (const id of chosen)
          await dataOf(heron.PATCH('/v1/campaigns/{id}', { params: { path: { id } }, body: { archived: to } }));
        await refreshCampaigns();
      };
      await put(archived);
      offerUndo(t('campaigns.archived', { count: chosen.length }), () => put(!archived));
    },
    { onDone: () => selection.clear() },
  );
  return (
    <BulkBar selection={selection} total={null} mayChooseAll={false}>
      {maySee ? (
        isComparable ? (
          <PageLinkButton
            to={`/reports/campaigns?ids=${[...ids].join(',')}`}
            size="compact-sm"
            variant="default"
            leftSection={<IconScale size={14} />}
          >
            {t('campaigns.compare')}
          </PageLinkButton>
        ) : (
          <Button size="compact-sm" variant="default" leftSection={<IconScale size={14} />} disabled>
            {t('campaigns.compare.some', { fewest: FEWEST, most: MOST })}
          </Button>
        )
      ) : null}
      {mayWrite ? (
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconArchive size={14} />}
          onClick={() => archive.mutate(true)}
          loading={archive.isPending}
        >
          {t('campaign.archive')}
        </Button>
      ) : null}
    </BulkBar>
  );
}
