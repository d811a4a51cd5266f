import { newId } from '../../../lib/ids.ts';
import { AppError, badRequest, notFound, type Problem } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import type { CampaignRow } from '../../../db/models/campaign.ts';
import { start } from '../../../temporal/dispatch.ts';
import { testRunWorkflow } from '../../../workflows/test-run/contract.ts';
import { createContacts } from '../../audience/contacts/create.ts';
import { resolveSenders } from '../../sending/campaign/sender-pool.ts';
import { lockCampaign } from '../../sending/control/status.ts';
import { assertMailboxAllowed, may } from '../../platform/kernel/actor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { suppressedAmong } from '../../directory/suppression-check.ts';
import { OPEN_TEST_RUN } from '../../sending/control/test-runs.ts';
import { assertTestsLeft } from './day-limit.ts';
import { viewTestRun, type Prospect, type TestRunView } from './read.ts';

/** Whom a test is about, and where its emails go. */
interface TestRequest {
  /** Lower-case. Default: the address of the contact. */
  prospectEmail?: string | undefined;
  /** Whose fields the copy shows. Default: the contact with the address, who is created where there is none. */
  contactId?: string | undefined;
  /** Default: the first mailbox of the campaign's sender pool that the caller may use. */
  mailboxId?: string | undefined;
  /** No wait lasts longer. Default: as the steps say. */
  maxWaitSeconds?: number | undefined;
}

/** How long a test run may take: every wait of it has an end. */
const MAX_TEST_MS = 30 * DAY_MS;
/** Test runs of a campaign that may be open at once. */
const MAX_OPEN = 10;

/**
 * Sends one prospect through the steps of a campaign, whatever its status, by the live runtime: real emails to the given address,
 * and real calls of apps. Nothing of it counts for the campaign.
 * A credential needs no policy for it: a test is none of the capabilities that a policy grants, and goes to one address. What bounds
 * it are suppressions, the mailboxes of the key, caps and gaps, and {@link assertTestsLeft}.
 * @throws AppError not_found; bad_request; campaign_invalid without steps; campaign_no_mailbox; forbidden for a mailbox that the
 *   key may not use, and for a contact whose fields would go to another address than its own without the right to see contacts; conflict with ten tests under way, or for an address that must not be mailed; rate_limit_exceeded when the
 *   credential has started as many today as it may
 */
export async function startCampaignTest(ctx: Ctx, campaignId: string, request: TestRequest): Promise<TestRunView> {
  return transact(ctx, async (tx) => {
    const campaign = await lockCampaign(tx, campaignId);
    if (request.prospectEmail === undefined && request.contactId === undefined)
      throw badRequest(message('tests.no_prospect'), [
        { path: 'body.prospect_email', message: message('tests.no_prospect.problem') },
      ]);
    await assertRoom(tx, campaign);
    await assertTestsLeft(ctx, tx);
    const prospect = await findProspect({ ...ctx, trx: tx.trx }, tx, request);
    const email = request.prospectEmail ?? prospect.email;
    if (email !== prospect.email && !may(ctx.actor, ['READ_CONTACTS'], ['view_contacts']))
      throw new AppError('forbidden', message('tests.other_address'));
    await assertMailable(tx, email);
    const mailboxId = await chooseMailbox(tx, campaign, request.mailboxId);
    const id = newId();
    await tx.org.insert('test_runs', {
      id,
      campaign_id: campaign.id,
      contact_id: prospect.id,
      mailbox_id: mailboxId,
      prospect_email: email,
      state: 'running',
      max_wait_seconds: request.maxWaitSeconds ?? null,
      ends_at: new Date(tx.now.getTime() + MAX_TEST_MS),
      created_at: tx.now,
      updated_at: tx.now,
    });
    tx.intend(start(testRunWorkflow, { organizationId: tx.org.organizationId, testRunId: id }));
    tx.audit({
      action: 'test',
      entityType: 'campaign',
      entityId: campaign.id,
      metadata: { test_run_id: id, contact_id: prospect.id, email_account_id: mailboxId },
    });
    return viewTestRun(tx.org, campaign.id, id);
  });
}

/** A campaign with steps, and not too many tests under way. */
async function assertRoom(tx: Tx, campaign: CampaignRow): Promise<void> {
  const [found] = await tx.org.sql<{ steps: number; open: number }>(
    `select (select count(*) from campaign_steps where organization_id = :org and campaign_id = :campaign)::int as steps,
       (select count(*) from test_runs where organization_id = :org and campaign_id = :campaign and state = any(:states))::int as open`,
    { campaign: campaign.id, states: [...OPEN_TEST_RUN] },
  );
  if (found!.steps === 0)
    throw new AppError('campaign_invalid', message('finding.campaign_invalid.no_steps'), {
      fix: message('finding.campaign_invalid.no_steps.fix'),
    });
  if (found!.open >= MAX_OPEN)
    throw new AppError('conflict', message('tests.too_many', { count: MAX_OPEN }), {
      fix: message('tests.too_many.fix'),
    });
}

/** The contact of the request; one for a new address is created, as app calls and product events are about a contact. */
async function findProspect(ctx: Ctx, tx: Tx, { prospectEmail, contactId }: TestRequest): Promise<Prospect> {
  const [known] = contactId
    ? await tx.org.sql<Prospect>(
        'select id, email from contacts where organization_id = :org and id = :id for key share',
        {
          id: contactId,
        },
      )
    : await tx.org.sql<Prospect>(
        'select id, email from contacts where organization_id = :org and email = :email for key share',
        { email: prospectEmail! },
      );
  if (known) return known;
  if (contactId) throw notFound('contact');
  const [created] = await createContacts(ctx, [{ email: prospectEmail! }]);
  return { id: created!.id, email: created!.email };
}

/** @throws AppError conflict for an address that is suppressed, or a contact's own that has opted out */
async function assertMailable(tx: Tx, email: string): Promise<void> {
  const suppressed = (await suppressedAmong(tx.org, [email], tx.now)).has(email);
  const [optedOut] = await tx.org.sql(
    'select 1 from contacts where organization_id = :org and email = :email and not subscribed',
    { email },
  );
  if (!suppressed && !optedOut) return;
  throw new AppError('conflict', message('tests.suppressed'), {
    fix: message('tests.suppressed.fix'),
  });
}

async function chooseMailbox(tx: Tx, campaign: CampaignRow, wanted: string | undefined): Promise<string> {
  if (wanted !== undefined) {
    const problem: Problem = { path: 'body.mailbox_id', message: message('tests.mailbox_inactive') };
    const [mailbox] = await tx.org.sql<{ id: string }>(
      `select id from mailboxes where organization_id = :org and id = :id and status = 'active'`,
      { id: wanted },
    );
    if (!mailbox) throw badRequest(message('tests.mailbox_cannot_send'), [problem]);
    assertMailboxAllowed(tx.actor, mailbox.id);
    return mailbox.id;
  }
  const pool = await resolveSenders(tx.org, campaign);
  const allowed = tx.actor.allowedMailboxes;
  const member = pool.find(({ mailboxId }) => !allowed || allowed.includes(mailboxId));
  if (!member)
    throw new AppError('campaign_no_mailbox', message('finding.campaign_no_mailbox'), {
      fix: message('tests.no_mailbox.fix'),
    });
  return member.mailboxId;
}
