import { newId } from '../../../lib/ids.ts';
import { json } from '../../../db/connection.ts';
import { defined } from '../../../lib/defined.ts';
import { AppError, badRequest, notFound, refuseProblems, type Problem } from '../../../lib/errors.ts';
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

/** Options of a test run: contact, destination address, mailbox and longest wait. */
interface TestRequest {
  /** Address that the test emails, in lower case. Defaults to the address of the contact. */
  prospectEmail?: string | undefined;
  /**
   * Id of the contact whose fields fill the copy. Defaults to the contact with `prospectEmail`, who is created if
   * missing.
   */
  contactId?: string | undefined;
  /** Sender of the test. Defaults to the first mailbox of the campaign's sender pool that the caller may use. */
  mailboxId?: string | undefined;
  /** Tests only this email and sends it at once. The given parts of the text replace the stored ones. */
  step?:
    | { id: string; subject?: string | undefined; body_plain?: string | undefined; body_html?: string | undefined }
    | undefined;
  /** Maximum duration of every wait, in seconds. Without this value, waits last as long as the steps define. */
  maxWaitSeconds?: number | undefined;
}

/** Maximum duration (ms) of a test run. Every wait ends by that time. */
const MAX_TEST_MS = 30 * DAY_MS;
/** Maximum number of open test runs per campaign. */
const MAX_OPEN = 10;

/**
 * Runs one prospect through the steps of a campaign in any status, with real emails to the given address and real app
 * calls. The campaign's numbers do not change. A key or application needs no policy for a test, because a test emails
 * only one address. Limits are suppressions, the key's mailboxes, daily caps, and {@link assertTestsLeft}.
 * @throws AppError not_found; bad_request; campaign_invalid without steps; campaign_no_mailbox
 * @throws AppError forbidden for a mailbox that the key may not use, or for a caller who may not see contacts and sends
 * a contact's fields to another address
 * @throws AppError conflict with ten open tests, or for an address that must not be mailed
 * @throws AppError rate_limit_exceeded when the daily limit of the key or application is reached
 */
export async function startCampaignTest(ctx: Ctx, campaignId: string, request: TestRequest): Promise<TestRunView> {
  return transact(ctx, async (tx) => {
    const campaign = await lockCampaign(tx, campaignId);
    if (request.prospectEmail === undefined && request.contactId === undefined)
      throw badRequest(message('tests.no_prospect'), [
        { path: 'body.prospect_email', message: message('tests.no_prospect.problem') },
      ]);
    await assertTestLimit(tx, campaign);
    const only = request.step && (await onlyEmail(tx, campaign, request.step.id));
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
      only_step_id: only?.id ?? null,
      copy: json(copyOf(request)),
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

/** Checks that the campaign has steps and fewer than MAX_OPEN open tests. */
async function assertTestLimit(tx: Tx, campaign: CampaignRow): Promise<void> {
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

/**
 * Returns the step of a test that sends a single email.
 * @throws AppError bad_request if the campaign has no such email
 */
async function onlyEmail(tx: Tx, campaign: CampaignRow, id: string): Promise<{ id: string }> {
  const [step] = await tx.org.sql<{ id: string }>(
    `select id from campaign_steps where organization_id = :org and campaign_id = :campaign and id = cast(:id as uuid) and kind = 'email'`,
    { campaign: campaign.id, id },
  );
  if (!step) refuseProblems([{ path: 'body.step.id', message: message('tests.no_such_email') }]);
  return step!;
}

function copyOf({ step: { id: _, ...copy } = { id: '' } }: TestRequest): Record<string, string> {
  return defined(copy) as Record<string, string>;
}

/**
 * Returns the contact of the request. Creates one for a new address, because app calls and product events need a
 * contact.
 */
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

/**
 * Checks that an address may be mailed.
 * @throws AppError conflict for a suppressed address, or for the address of a contact that has opted out
 */
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
