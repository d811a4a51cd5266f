import type { TestFn } from 'ava';
import { advanceEnrollment } from '../../domain/sending/enrollment/advance.ts';
import { deliverSend } from '../../domain/sending/deliver.ts';
import type { Ctx } from '../../domain/platform/kernel/context.ts';
import type { RawDb, TestDeps } from './database.ts';
import { createCampaign, createContact, createMailbox, enroll, type StepSpec, type Tenant } from './factories.ts';
import { createFakeSmtp, type FakeSmtp } from './fake-smtp.ts';
import { ManualClock } from './manual-clock.ts';
import { createWorld, type World } from './world.ts';

/** Initial time of the clock in engine tests: a Monday, 08:00 UTC. */
export const MONDAY = new Date('2026-03-02T08:00:00Z');
const EMAIL: StepSpec = { subject: 'S', body_plain: 'b' };

/**
 * Creates a world for one test file with a manual clock, set to {@link MONDAY} before each test. It closes after all
 * tests.
 */
export async function createMondayWorld(
  test: TestFn,
  env: Record<string, string> = {},
): Promise<{ world: World; clock: ManualClock }> {
  const clock = new ManualClock(MONDAY);
  const world = await createWorld({ clock, env });
  test.beforeEach(() => clock.set(MONDAY));
  test.after.always(() => world.close());
  return { world, clock };
}

/**
 * Only lead of a campaign with one mailbox. The test requests decisions, waits and delivers in place of the lead's
 * workflow.
 */
export interface Lead {
  tenant: Tenant;
  organizationId: string;
  ctx: Ctx & TestDeps;
  db: RawDb;
  mailboxId: string;
  campaignId: string;
  stepIds: string[];
  contactId: string;
  enrollmentId: string;
  smtp: FakeSmtp;
  /** Requests the next decision about the lead. */
  advance(): ReturnType<typeof advanceEnrollment>;
  /** Continues to the next email, advancing the clock over waits and to its slot. Returns the id of its send. */
  reserve(): Promise<string>;
  /** Makes one attempt to send an email through {@link Lead.smtp}. */
  deliver(sendId: string): ReturnType<typeof deliverSend>;
  readEnrollment(): Promise<any>;
  readSend(sendId: string): Promise<any>;
}

/** Creates a lead, in a new organization unless a tenant is given. By default its campaign has one email. */
export async function createLead(
  { world, clock }: { world: World; clock: ManualClock },
  steps: StepSpec[] = [EMAIL],
  {
    campaign = {},
    contact = {},
    tenant: given,
  }: { campaign?: Record<string, unknown>; contact?: Record<string, unknown>; tenant?: Tenant } = {},
): Promise<Lead> {
  const { deps } = world;
  const { db } = deps;
  const tenant = given ?? (await world.tenant());
  const { organizationId } = tenant;
  const mailboxId = await createMailbox(deps, organizationId, 'm@s.example.com');
  const { campaignId, stepIds } = await createCampaign(deps, organizationId, steps, campaign);
  const contactId = await createContact(db, clock.now(), organizationId, contact);
  const [enrollmentId] = (await enroll(deps, organizationId, campaignId, [contactId])) as [string];
  const ctx = world.system(organizationId);
  const smtp = createFakeSmtp();
  const advance = () => advanceEnrollment(ctx, enrollmentId);
  return {
    tenant,
    organizationId,
    ctx,
    db,
    mailboxId,
    campaignId,
    stepIds,
    contactId,
    enrollmentId,
    smtp,
    advance,
    async reserve() {
      for (let turns = 0; turns < 20; turns += 1) {
        const decision = await advance();
        if (decision.kind === 'send') return decision.sendId;
        if (decision.kind === 'slot') {
          clock.set(new Date(decision.at));
          return decision.sendId;
        }
        if (decision.kind !== 'wait') throw new Error(`no slot: ${JSON.stringify(decision)}`);
        clock.set(new Date(decision.until));
      }
      throw new Error('no slot after 20 turns');
    },
    deliver: (sendId) => deliverSend(ctx, { smtp }, sendId),
    readEnrollment: () => db('enrollments').where({ id: enrollmentId }).first(),
    readSend: (sendId) => db('sends').where({ id: sendId }).first(),
  };
}
