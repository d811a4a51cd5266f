import type { CampaignRow } from '../../db/models/campaign.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import { refuseProblems } from '../../lib/errors.ts';
import { stepErrors } from '../sending/campaign/step-findings.ts';
import { stepsWithoutSubject, stepsWithoutText } from '../sending/campaign/subjects.ts';
import { readWritten } from '../sending/campaign/written.ts';
import { retryCompositions } from '../sending/composition.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { assertMayChangeActive } from '../approvals/may-change-leads.ts';
import { message, type Message } from '../../messages/index.ts';

/**
 * Changes steps or variants of a locked campaign. An edit of an active campaign must not add an error that would
 * prevent a start, but existing errors may be fixed one by one. Retries contacts whose email could not be composed.
 * @throws AppError bad_request with the errors that the edit would add; forbidden as in {@link assertMayChangeActive}
 */
export async function editSteps<T>(tx: Tx, campaign: CampaignRow, edit: () => Promise<T>): Promise<T> {
  await assertMayChangeActive(tx, campaign);
  const known = campaign.status === 'active' ? new Set((await editErrors(tx.org, campaign)).map(keyOf)) : null;
  const result = await edit();
  if (known)
    refuseProblems(
      (await editErrors(tx.org, campaign))
        .filter((problem) => !known.has(keyOf(problem)))
        .map(({ stepId, message: said }) => ({ path: `steps.${stepId}`, message: said })),
    );
  await retryCompositions(tx, campaign.id);
  return result;
}

interface StepError {
  stepId: string | null;
  message: Message;
}

/** Lists the errors of the steps that would prevent a start, including emails without their own text or subject. */
async function editErrors(org: OrgScope, campaign: CampaignRow): Promise<StepError[]> {
  const written = await readWritten(org, campaign.id);
  return [
    ...(await stepErrors(org, campaign, written)).map(({ stepId, code, values }) => ({
      stepId,
      message: { code, values },
    })),
    ...stepsWithoutText(written).map((stepId) => ({
      stepId,
      message: message('campaigns.email_needs_text'),
    })),
    ...stepsWithoutSubject(written).map((stepId) => ({
      stepId,
      message: message('campaigns.email_needs_subject'),
    })),
  ];
}

function keyOf(error: StepError): string {
  return JSON.stringify(error);
}
