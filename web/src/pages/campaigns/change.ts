import { dataOf, heron, queryClient, type BodyOf } from '../../app/api.ts';
import { showError } from '../../components/action.ts';
import { offerUndo } from '../../components/undo.tsx';

type Change = Pick<BodyOf<'/v1/campaigns/{id}', 'patch'>, 'name' | 'archived' | 'folders'>;

/** Refetches all visible campaign queries. */
export function refreshCampaigns(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ['campaigns'] });
}

/** Changes a campaign immediately, and offers an undo that restores the previous values. */
export async function changeCampaign(id: string, change: Change, before: Change, said: string): Promise<void> {
  const put = async (body: Change) => {
    await dataOf(heron.PATCH('/v1/campaigns/{id}', { params: { path: { id } }, body }));
    await refreshCampaigns();
  };
  try {
    await put(change);
    offerUndo(said, () => put(before));
  } catch (error) {
    showError(error);
  }
}
