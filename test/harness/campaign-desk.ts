import { allowEverything } from './approvals.ts';
import { createContact, createLabel, createMailbox, type Tenant } from './factories.ts';
import { call, type Answer, type World } from './world.ts';
import { newId } from '../../lib/ids.ts';

/** Workspace of a campaign suite. Offers calls with its API key, and rows to which campaign routes refer. */
export interface Desk {
  tenant: Tenant;
  /**
   * Calls the API with the given token; by default with the tenant's key, which may start campaigns without approval.
   */
  call(method: string, path: string, body?: unknown, token?: string): Promise<Answer>;
  /** Creates a campaign and returns it; fails if the API refuses. */
  campaign(body?: object): Promise<any>;
  /** Creates a campaign with one email step and `leads` leads, and a mailbox in the workspace. */
  ready(leads?: number, body?: object): Promise<{ campaign: any; contacts: string[] }>;
  label(registry: 'tag' | 'folder' | 'category'): Promise<string>;
  mailbox(fields?: object): Promise<string>;
  contact(fields?: Record<string, unknown>): Promise<string>;
  segment(): Promise<string>;
  row(id: string): Promise<any>;
  logs(id: string): Promise<string[]>;
  events(): Promise<string[]>;
  outbox(prefix: string): Promise<{ kind: string; workflow_id: string }[]>;
}

let mailboxes = 0;

/** Creates a separate workspace in a world. */
export async function openDesk(world: World): Promise<Desk> {
  const tenant = await world.tenant();
  const { db, clock } = world.deps;
  const org = tenant.organizationId;
  const stamped = () => ({ organization_id: org, created_at: clock.now(), updated_at: clock.now() });
  let allowed = false;
  const desk: Desk = {
    tenant,
    async call(method, path, body, token = tenant.apiKey) {
      const starts = path.endsWith('/start') || (body as { status?: string } | undefined)?.status === 'active';
      // After the first start the key needs a policy for every change, because changes of an active campaign need one,
      // too.
      allowed ||= starts;
      if (allowed && method !== 'GET' && token === tenant.apiKey) await allowEverything(world.deps, tenant);
      return call(world, method, `/v1${path}`, { token, ...(body === undefined ? {} : { body }) });
    },
    async campaign(body = {}) {
      const answer = await desk.call('POST', '/campaigns', { name: 'Spring', ...body });
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.body;
    },
    async ready(leads = 1, body = {}) {
      await desk.mailbox();
      const campaign = await desk.campaign({ steps: [{ subject: 'Hello', body_plain: 'Hi' }], ...body });
      const contacts: string[] = [];
      for (let n = 0; n < leads; n += 1) contacts.push(await desk.contact());
      if (leads > 0) await desk.call('POST', `/campaigns/${campaign.id}/leads`, { contact_ids: contacts });
      return { campaign, contacts };
    },
    label: (registry) => createLabel(world.deps, org, registry),
    mailbox: (fields = {}) =>
      createMailbox(
        world.deps,
        org,
        `m${(mailboxes += 1)}@example.com`,
        { smtp: { host: '127.0.0.1', port: 1 } },
        { ...fields },
      ),
    contact: (fields = {}) => createContact(db, clock.now(), org, fields),
    async segment() {
      const id = newId();
      await db('segments').insert({ id, name: 'Everybody', ...stamped() });
      return id;
    },
    row: (id) => db('campaigns').where({ id }).first(),
    logs: async (id) =>
      (await db('campaign_logs').where({ campaign_id: id }).orderBy('id')).map((row) => row.event_type),
    events: async () =>
      (await db('domain_events').where({ organization_id: org }).orderBy('id')).map((row) => row.type),
    outbox: (prefix) =>
      db('outbox').where('workflow_id', 'like', `${prefix}%`).orderBy('id').select('kind', 'workflow_id'),
  };
  return desk;
}

/** Returns the sorted paths of the problems in an answer. */
export function problemPaths(answer: Answer): string[] {
  return (answer.body.problems ?? []).map((problem: { path: string }) => problem.path).sort();
}
