import type { CampaignRow } from '../../db/models/campaign.ts';
import { refuseProblems } from '../../lib/errors.ts';
import { stepErrors } from '../engine/campaign/step-findings.ts';
import { retryCompositions } from '../engine/sending/composition.ts';
import type { Tx } from '../kernel/transact.ts';

/**
 * Changes steps or variants of a locked campaign. While it is active, an edit must not bring in what a start would refuse;
 * errors it has already may be mended one by one. Contacts whose email could not be written are tried again.
 * @throws AppError bad_request with the errors that the edit would bring in
 */
export async function editSteps<T>(tx: Tx, campaign: CampaignRow, edit: () => Promise<T>): Promise<T> {
  const known = campaign.status === 'active' ? new Set((await stepErrors(tx.org, campaign)).map(keyOf)) : null;
  const result = await edit();
  if (known)
    refuseProblems(
      (await stepErrors(tx.org, campaign))
        .filter((problem) => !known.has(keyOf(problem)))
        .map(({ stepId, message }) => ({ path: `steps.${stepId}`, message })),
    );
  await retryCompositions(tx, campaign.id);
  return result;
}

function keyOf({ stepId, message }: { stepId: string | null; message: string }): string {
  return `${stepId} ${message}`;
}
