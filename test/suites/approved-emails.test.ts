import test from 'ava';
import { simpleParser } from 'mailparser';
import { isWrite } from '../../api/http/route.ts';
import { routes } from '../../api/routes.ts';
import { newId } from '../../lib/ids.ts';
import { openApproved, type ApprovedDesk } from '../harness/approved-desk.ts';
import { createMondayWorld } from '../harness/lead.ts';
import type { Answer } from '../harness/world.ts';
import { wellFormed } from './walk.ts';

const stage = await createMondayWorld(test);
const { world } = stage;

/** Areas whose routes may change an email that a person has approved. */
const AREAS = [
  'campaigns',
  'contacts',
  'imports',
  'mailboxes',
  'warmup',
  'outreach-settings',
  'labels',
  'suppressions',
  'segments',
];

type Call = [method: string, path: string, body?: unknown];

/** Change that is made after the approval to something on which an approved email depends. */
interface Mutation {
  /**
   * Requests that make the change. They are sent with the key that requested the approval, or by a person if the key
   * may not.
   */
  calls?: (desk: ApprovedDesk) => Call[] | Promise<Call[]>;
  /** Makes the change directly if the route needs a provider or a worker. */
  does?: (desk: ApprovedDesk) => Promise<unknown>;
  setting?: Parameters<typeof openApproved>[1];
  /**
   * Reason why the email must not be sent although none of its fields differs. Without it the email may be sent
   * unchanged.
   */
  ends?: string;
}

const calls = (given: Mutation['calls'], more: Omit<Mutation, 'calls'> = {}): Mutation => ({ calls: given!, ...more });
const campaignEdit = (body: object): Mutation => calls((desk) => [['PATCH', `/campaigns/${desk.campaignId}`, body]]);
const mailboxEdit = (body: object): Mutation => calls((desk) => [['PATCH', `/emails/${desk.mailboxId}`, body]]);
const contactEdit = (body: object): Mutation => calls((desk) => [['PATCH', `/contacts/${desk.contactIds[0]}`, body]]);
const leadPath = (desk: ApprovedDesk) => `/campaigns/${desk.campaignId}/leads/${desk.contactIds[0]}`;
const variantPath = async (desk: ApprovedDesk) => {
  const { id } = await world.deps.db('campaign_variants').where({ campaign_id: desk.campaignId }).first('id');
  return `/campaigns/${desk.campaignId}/ab-variants/${id}`;
};
function attachment(): FormData {
  const body = new FormData();
  body.set('file', new Blob(['An offer']), 'offer.txt');
  return body;
}
const withVariant = { variant: { name: 'B', subject: 'Hello from B', body_plain: 'Hi {{.FirstName}}' } };
const unlike = (table: string, fields: object) => (desk: ApprovedDesk) =>
  world.deps.db(table).where({ organization_id: desk.tenant.organizationId }).update(fields);

/** Mutations by the operation that causes them. */
const DRIVEN: Record<string, Mutation[]> = {
  'campaigns.create': [calls(() => [['POST', '/campaigns', { name: 'Another' }]])],
  'campaigns.update': [
    campaignEdit({ cc: ['boss@lead.test'] }),
    campaignEdit({ bcc: ['boss@lead.test'] }),
    campaignEdit({ unsubscribe_header: false }),
    campaignEdit({ unsubscribe_mode: 'link' }),
    campaignEdit({ open_tracking: true }),
    campaignEdit({ link_tracking: true }),
    campaignEdit({ text_only: true }),
    campaignEdit({ utm_tracking: true }),
    campaignEdit({ name: 'Renamed' }),
    campaignEdit({ daily_limit: 7 }),
  ],
  'campaigns.delete': [
    calls((desk) => [['DELETE', `/campaigns/${desk.campaignId}`]], { ends: 'the campaign is gone' }),
  ],
  'campaigns.duplicate': [calls((desk) => [['POST', `/campaigns/${desk.campaignId}/duplicate`, {}]])],
  'campaigns.updateAdvanced': [
    calls((desk) => [
      ['PATCH', `/campaigns/${desk.campaignId}/advanced`, { settings: { unsubscribe: { text: 'Buy more' } } }],
    ]),
  ],
  'campaigns.stop': [calls((desk) => [['POST', `/campaigns/${desk.campaignId}/stop`, {}]], { ends: 'it is stopped' })],
  'campaigns.verifyTrackingDomain': [
    {
      setting: { campaign: { tracking_domain: 'track.example.com' } },
      does: unlike('campaigns', { tracking_domain_verified: true }),
    },
  ],
  'campaigns.createStep': [
    calls((desk) => [
      ['POST', `/campaigns/${desk.campaignId}/steps`, { subject: 'Again', body_plain: 'Still there?' }],
    ]),
  ],
  'campaigns.updateStep': [
    calls((desk) => [['PATCH', `/campaigns/${desk.campaignId}/steps/${desk.stepId}`, { subject: 'Buy' }]]),
    calls((desk) => [['PATCH', `/campaigns/${desk.campaignId}/steps/${desk.stepId}`, { body_plain: 'Buy now' }]]),
    calls((desk) => [['PATCH', `/campaigns/${desk.campaignId}/steps/${desk.stepId}`, { body_html: '<p>Buy</p>' }]]),
  ],
  'campaigns.deleteStep': [
    calls((desk) => [['DELETE', `/campaigns/${desk.campaignId}/steps/${desk.stepId}`]], { ends: 'no email is left' }),
  ],
  'campaigns.createAbVariant': [
    calls((desk) => [['POST', `/campaigns/${desk.campaignId}/ab-variants`, withVariant.variant]]),
  ],
  'campaigns.updateAbVariant': [
    calls(async (desk) => [['PATCH', await variantPath(desk), { body_plain: 'Buy now' }]], { setting: withVariant }),
  ],
  'campaigns.deleteAbVariant': [calls(async (desk) => [['DELETE', await variantPath(desk)]], { setting: withVariant })],
  'campaigns.uploadAttachment': [
    calls((desk) => [['POST', `/campaigns/${desk.campaignId}/attachments`, attachment()]]),
  ],
  'campaigns.deleteAttachment': [
    calls(async (desk) => {
      const attached = await desk.asPerson('POST', `/campaigns/${desk.campaignId}/attachments`, attachment());
      return [['DELETE', `/campaigns/${desk.campaignId}/attachments/${attached.body.id}`]];
    }),
  ],
  'campaigns.replaceSenders': [
    calls(
      (desk) => [
        ['PATCH', `/emails/${desk.spareId}`, { status: 'active' }],
        ['PUT', `/campaigns/${desk.campaignId}/senders`, { senders: [{ email_account_id: desk.spareId }] }],
      ],
      { setting: { spare: { status: 'inactive' } } },
    ),
  ],
  'campaigns.addLeads': [
    calls((desk) => [['POST', `/campaigns/${desk.campaignId}/leads`, { contact_ids: desk.contactIds }]]),
  ],
  'campaigns.removeLead': [calls((desk) => [['DELETE', leadPath(desk)]], { ends: 'the lead is gone' })],
  'campaigns.pauseLead': [calls((desk) => [['POST', `${leadPath(desk)}/pause`, {}]], { ends: 'the lead is held' })],
  'campaigns.resumeLead': [calls((desk) => [['POST', `${leadPath(desk)}/resume`, {}]])],
  'contacts.create': [
    calls(async (desk) => {
      const { email } = await world.deps.db('contacts').where({ id: desk.contactIds[0] }).first('email');
      return [['POST', '/contacts', [{ email, first_name: 'Mallory' }]]];
    }),
  ],
  'contacts.createBulkEdit': [
    calls((desk) => [['POST', '/contacts/bulk-edits', { contacts: desk.contactIds, action: { type: 'suppress' } }]], {
      ends: 'the address is suppressed',
    }),
  ],
  'contacts.updateMany': [
    calls((desk) => [
      ['PATCH', '/contacts', { contacts: desk.contactIds, fields: [{ type: 'EDIT', key: 'industry', value: 'Wood' }] }],
    ]),
  ],
  'contacts.deleteMany': [
    calls((desk) => [['DELETE', '/contacts', { contacts: desk.contactIds }]], { ends: 'the contact is gone' }),
  ],
  'contacts.update': [
    contactEdit({ email: 'stranger@else.test' }),
    contactEdit({ first_name: 'Mallory' }),
    contactEdit({ custom_fields: { industry: 'Wood' } }),
    contactEdit({ phone: '+1 555 0100' }),
  ],
  'contacts.delete': [
    calls((desk) => [['DELETE', `/contacts/${desk.contactIds[0]}`]], { ends: 'the contact is gone' }),
  ],
  'mailboxes.connect': [
    { does: (desk) => desk.connect(desk.email, 'Somebody Else') },
    {
      async does(desk) {
        await desk.connect(`${newId()}@ours.test`, 'New');
        await desk.switchOff();
      },
    },
  ],
  'mailboxes.update': [
    mailboxEdit({ name: 'CEO' }),
    mailboxEdit({ reply_to: 'thief@else.test' }),
    mailboxEdit({ signature_plain: 'Call 0900' }),
    mailboxEdit({ signature_html: '<p>Call 0900</p>' }),
    mailboxEdit({ campaign_limit: 3 }),
    { does: unlike('mailboxes', { send_as_email: 'ceo@ours.test' }) },
    { does: unlike('mailboxes', { tracking_domain: 'track.example.com', tracking_domain_verified: true }) },
    calls((desk) => [['PATCH', `/emails/${desk.spareId}`, { status: 'active' }]], {
      setting: { spare: { status: 'inactive' } },
      does: (desk) => desk.switchOff(),
    }),
  ],
  'mailboxes.delete': [calls((desk) => [['DELETE', `/emails/${desk.mailboxId}`]], { ends: 'no mailbox is left' })],
  'outreachSettings.replace': [
    calls(() => [['PATCH', '/outreach/settings', { settings: { unsubscribe: { text: 'Buy more' } } }]]),
    calls(() => [['PATCH', '/outreach/settings', { settings: { unsubscribe: { mode: 'link' } } }]]),
  ],
  'suppressions.add': [
    calls(
      async (desk) => {
        const { email } = await world.deps.db('contacts').where({ id: desk.contactIds[0] }).first('email');
        return [['POST', '/suppressions', { entries: [{ value: email }] }]];
      },
      { ends: 'the address is suppressed' },
    ),
  ],
};

const sampled = (operationId: string): Mutation[] => {
  const spec = routes.find((route) => route.operationId === operationId)!;
  return [calls(() => [[spec.method.toUpperCase(), spec.path, wellFormed(spec).body]])];
};
for (const plural of ['folders', 'tags', 'categories']) DRIVEN[`${plural}.create`] = sampled(`${plural}.create`);
DRIVEN['tags.delete'] = [
  {
    async does(desk) {
      const made = await desk.asPerson('POST', '/tags', { title: 'Senders', color: '#112233' });
      const tag = made.body.id as string;
      await desk.asPerson('PATCH', `/emails/${desk.mailboxId}`, { tags: [tag] });
      await desk.asPerson('DELETE', `/tags/${tag}`);
    },
  },
];

/** Mutating routes of these areas that are not tested, with the reason. */
const EXCEPTIONS: Record<string, string> = {
  'campaigns.runPreflight': 'checks, and writes a report',
  'warmup.start': 'warmup emails are emails of their own',
  'warmup.pause': 'warmup emails are emails of their own',
  'warmup.resume': 'warmup emails are emails of their own',
  'warmup.stop': 'warmup emails are emails of their own',
  'warmupRouting.create': 'warmup emails are emails of their own',
  'warmupRouting.replace': 'warmup emails are emails of their own',
  'warmupRouting.delete': 'warmup emails are emails of their own',
  'campaigns.start': 'asks for an approval of its own, or a person starts the campaign as it is',
  'contactImports.start': 'a worker writes its rows, by the statement of contacts.create',
  'contactImports.cancel': 'writes no contact',
  'contacts.createReferred': 'adds a contact to no campaign, or fills empty fields by the statement of contacts.create',
  'mailboxes.connectMany': 'calls the verb of mailboxes.connect for each mailbox',
  'mailboxes.startConsent': 'ends in the verb of mailboxes.connect, after a consent at the provider',
  'mailboxes.refreshIdentity': 'clears an address that its provider no longer lets the mailbox send as',
  'mailboxes.setTrackingDomain':
    'its column is driven with mailboxes.update; the route first asks the DNS of the domain',
  'mailboxes.test': 'reads and writes nothing that an email is made of',
  'contacts.verify': 'sets a verdict, which keeps an approved email from leaving or lets it leave as it is',
  'contacts.undoBulkEdit':
    'restores memberships, categories and suppressions of before, by the statements of contacts.createBulkEdit',
  'suppressions.remove': 'an entry that is removed lets an email leave as it was approved',
  'segments.create': 'a segment chooses leads only when they are added',
  'segments.update': 'a segment chooses leads only when they are added',
  'segments.delete': 'a segment chooses leads only when they are added',
  'tags.update': 'a title and a color, which no email shows',
  'tags.move': 'a place in a list',
  'folders.update': 'a title and a color, which no email shows',
  'folders.delete': 'a folder sorts campaigns in lists',
  'folders.move': 'a place in a list',
  'categories.update': 'a title and a color, which no email shows',
  'categories.delete': 'a category of contacts is no value of an email',
  'categories.move': 'a place in a list',
};

const inQuestion = routes.filter((spec) => AREAS.includes(spec.area) && isWrite(spec)).map((spec) => spec.operationId);

test('every mutating route of what an email is made of is driven, or says why it is not', (t) => {
  const unknown = inQuestion.filter((id) => !(id in DRIVEN) && !(id in EXCEPTIONS));
  t.deepEqual(unknown, [], 'new routes');
  const gone = [...Object.keys(DRIVEN), ...Object.keys(EXCEPTIONS)].filter((id) => !inQuestion.includes(id));
  t.deepEqual(gone, [], 'routes that are no more');
});

test.serial('after any change an email leaves as it was approved, or stays and the field is named', async (t) => {
  const faults: string[] = [];
  let left = 0;
  let stopped = 0;
  for (const [operationId, mutations] of Object.entries(DRIVEN)) {
    for (const [index, mutation] of mutations.entries()) {
      const outcome = await drive(mutation).catch((error: unknown) => String(error));
      if (outcome === 'left') left += 1;
      else if (outcome === 'stopped') stopped += 1;
      else faults.push(`${operationId} ${index}: ${outcome}`);
    }
  }
  t.log(`${Object.keys(DRIVEN).length} routes driven: ${left} emails left as approved, ${stopped} stayed`);
  t.deepEqual(faults, []);
  t.true(left > 0 && stopped > 0);
});

/** Tests one mutation between an approval and the slot. Returns the result for the email, or the fault. */
async function drive({ calls: requests, does, setting, ends }: Mutation): Promise<string> {
  stage.clock.set(new Date('2026-03-02T08:00:00Z'));
  const desk = await openApproved(stage, setting);
  for (const request of (await requests?.(desk)) ?? []) {
    const refused = await make(desk, request);
    if (refused) return refused;
  }
  await does?.(desk);
  await desk.slotComes();
  const [email, ...further] = desk.smtp.taken;
  if (further.length > 0) return `${further.length} further emails left`;
  const [first] = await desk.pending();
  const named = (first?.reasons[0].message.values.fields as string[] | undefined) ?? [];
  if (!email) return named.length > 0 || ends !== undefined ? 'stopped' : 'nothing left, and no field is named';
  return (await differences(desk, email)) || (ends === undefined ? 'left' : `left, although ${ends}`);
}

/** Sends a request with the key, or as a person if the key may not. Returns the fault. */
async function make(desk: ApprovedDesk, [method, path, body]: Call): Promise<string | undefined> {
  const byKey = await desk.asKey(method, path, body);
  if (byKey.status < 300) return undefined;
  const answer: Answer = byKey.status === 403 ? await desk.asPerson(method, path, body) : byKey;
  return answer.status < 300 ? undefined : `${method} ${path} answered ${answer.status} ${answer.text}`;
}

/**
 * Returns the fields of a received email that differ from the approved preview, except Date and Message-ID, which
 * always differ.
 */
async function differences(desk: ApprovedDesk, { raw, to }: { raw: string; to: string[] }): Promise<string> {
  const mail = await simpleParser(raw);
  const { samples, senders } = desk.approval.payload;
  const { from, to: recipient, cc = [], subject, text, html } = samples[0]!;
  const arrived: Record<string, unknown> = {
    from: mail.from?.text.replaceAll('"', ''),
    reply_to: mail.replyTo?.text ?? '',
    to: to.join(),
    cc: mail.cc ? [mail.cc].flat().map((one) => one.text) : [],
    subject: mail.subject,
    text: mail.text?.trim(),
    html: mail.html || '',
    one_click: /^List-Unsubscribe-Post: /im.test(raw),
  };
  const approved: Record<string, unknown> = {
    from,
    reply_to: senders[0]!.reply_to,
    to: recipient,
    cc,
    subject,
    text: text.trim(),
    html,
    one_click: true,
  };
  const wrong = Object.keys(approved).filter(
    (field) => JSON.stringify(arrived[field]) !== JSON.stringify(approved[field]),
  );
  return wrong.map((field) => `${field}: ${JSON.stringify([arrived[field], approved[field]])}`).join('; ');
}
