import test, { type ExecutionContext } from 'ava';
import { simpleParser } from 'mailparser';
import { openApproved } from '../../test/harness/approved-desk.ts';
import { openDesk } from '../../test/harness/campaign-desk.ts';
import { createMailbox } from '../../test/harness/factories.ts';
import { createMondayWorld } from '../../test/harness/lead.ts';
import { assertStatus, call } from '../../test/harness/world.ts';
import { newId } from '../../lib/ids.ts';

const stage = await createMondayWorld(test, { ORG_STORED_BYTES: '4000' });
const { world } = stage;
const { db } = world.deps;
const SHOWN = { 'x-heron-example': 'yes' };

function form(filename: string, content: string, stepId?: string): FormData {
  const body = new FormData();
  body.set('file', new Blob([content]), filename);
  if (stepId !== undefined) body.set('step_id', stepId);
  return body;
}

/** Creates a campaign of two emails, and a function that calls the API with a key. */
async function openCampaign(campaignFields: Record<string, unknown> = {}) {
  const { tenant, campaign } = await openDesk(world);
  const steps = [
    { subject: 'Hello', body_plain: 'Hi' },
    { subject: 'Again', body_plain: 'Hi again' },
  ];
  const { id } = await campaign({ steps, ...campaignFields });
  const rows = await db('campaign_steps').where({ campaign_id: id }).orderBy('position');
  const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    call(world, method, `/v1/campaigns/${path}`, {
      token: tenant.apiKey,
      headers,
      ...(body === undefined ? {} : { body }),
    });
  return {
    id: id as string,
    tenant,
    stepIds: rows.map((row: { id: string }) => row.id) as string[],
    ask,
    attach: (body: FormData, headers?: Record<string, string>) => ask('POST', `${id}/attachments`, body, headers),
    list: async () => (await ask('GET', `${id}/attachments`)).body.data,
    blobs: () => db('blobs').where({ organization_id: tenant.organizationId }),
  };
}

test.serial('a file is attached to one email or to all, listed, and removed with its bytes', async (t) => {
  const campaign = await openCampaign();
  const [first] = campaign.stepIds;
  const all = await campaign.attach(form('../prices.csv', 'plan,price\n'), SHOWN);
  assertStatus(t, all, 201);
  t.like(all.body, {
    campaign_id: campaign.id,
    step_id: null,
    filename: 'prices.csv',
    size: 11,
    mime_type: 'text/csv',
  });
  const own = await campaign.attach(form('offer.pdf', '%PDF', first));
  t.like(own.body, { step_id: first, mime_type: 'application/pdf' });
  const listed = await campaign.ask('GET', `${campaign.id}/attachments`, undefined, SHOWN);
  t.deepEqual(listed.body, { data: [all.body, own.body] });
  const preview = await call(world, 'POST', '/v1/campaign-template-preview', {
    token: campaign.tenant.apiKey,
    body: { campaign_id: campaign.id, step_id: first },
  });
  t.deepEqual(
    preview.body.attachments.map(({ filename }: { filename: string }) => filename),
    ['prices.csv', 'offer.pdf'],
  );
  assertStatus(t, await campaign.ask('DELETE', `${campaign.id}/attachments/${all.body.id}`, undefined, SHOWN), 204);
  assertStatus(t, await campaign.ask('DELETE', `${campaign.id}/attachments/${all.body.id}`), 404);
  t.deepEqual(await campaign.list(), [own.body]);
  t.is((await campaign.blobs()).length, 1);
  const logs = await db('campaign_logs').where({ campaign_id: campaign.id, event_type: 'steps_changed' });
  t.is(logs.length, 3);
});

test.serial('programs, unknown steps and more than an email carries are refused', async (t) => {
  const campaign = await openCampaign();
  const other = await openCampaign();
  const refused = async (body: FormData) => {
    const { status, body: answer } = await campaign.attach(body);
    return [status, answer.problems?.map(({ path }: { path: string }) => path)];
  };
  t.deepEqual(await refused(form('run.exe', 'x')), [400, ['body.file']]);
  t.deepEqual(await refused(form('mail.eml', 'x')), [400, ['body.file']]);
  t.deepEqual(await refused(form('a.txt', 'x', other.stepIds[0]!)), [404, undefined]);
  const tooLarge = await campaign.attach(form('a.txt', 'x'.repeat(15 * 1024 * 1024 + 1)));
  t.true([400, 413].includes(tooLarge.status));
  for (let n = 0; n < 9; n += 1)
    assertStatus(t, await campaign.attach(form(`${n}.txt`, 'x', campaign.stepIds[0]!)), 201);
  assertStatus(t, await campaign.attach(form('all.txt', 'x')), 201);
  t.deepEqual(await refused(form('eleventh.txt', 'x', campaign.stepIds[0]!)), [400, ['body.file']]);
  t.deepEqual(await refused(form('eleventh.txt', 'x')), [400, ['body.file']]);
  assertStatus(t, await campaign.attach(form('second.txt', 'x', campaign.stepIds[1]!)), 201);
});

test.serial('attachments of campaigns and of single emails share one quota', async (t) => {
  const campaign = await openCampaign();
  const mailboxId = await createMailbox(world.deps, campaign.tenant.organizationId, `${newId()}@ours.test`);
  const compose = (bytes: number) =>
    call(world, 'POST', '/v1/unibox/drafts', {
      token: campaign.tenant.apiKey,
      body: {
        email_account_id: mailboxId,
        attachments: [
          { filename: 'a.txt', content_type: 'text/plain', content: Buffer.alloc(bytes, 'x').toString('base64') },
        ],
      },
    });
  assertStatus(t, await compose(1000), 201);
  assertStatus(t, await campaign.attach(form('a.txt', 'x'.repeat(1600))), 201);
  t.like(await campaign.attach(form('b.txt', 'x'.repeat(1401))), {
    status: 400,
    body: { code: 'storage_limit_reached' },
  });
  const together = await Promise.all([
    campaign.attach(form('b.txt', 'x'.repeat(1000))),
    compose(1000),
    campaign.attach(form('c.txt', 'x'.repeat(1000))),
  ]);
  t.deepEqual(together.map(({ status }) => status).sort(), [201, 400, 400], 'parallel uploads do not exceed it');
  t.like(await campaign.ask('POST', `${campaign.id}/duplicate`, {}), {
    status: 400,
    body: { code: 'storage_limit_reached' },
  });
});

test.serial('a copy has files of its own, and they go with their campaign or step', async (t) => {
  const campaign = await openCampaign();
  await campaign.attach(form('all.txt', 'for all'));
  await campaign.attach(form('second.txt', 'for the second', campaign.stepIds[1]!));
  const copy = await campaign.ask('POST', `${campaign.id}/duplicate`, {});
  assertStatus(t, copy, 201);
  const { data } = (await campaign.ask('GET', `${copy.body.id}/attachments`)).body;
  const steps = await db('campaign_steps').where({ campaign_id: copy.body.id }).orderBy('position');
  t.deepEqual(
    data.map(({ filename, step_id: step }: { filename: string; step_id: string }) => [filename, step]),
    [
      ['all.txt', null],
      ['second.txt', steps[1].id],
    ],
  );
  t.is((await campaign.blobs()).length, 4);
  assertStatus(t, await campaign.ask('DELETE', `${campaign.id}`), 204);
  t.is((await campaign.blobs()).length, 2);
  assertStatus(t, await campaign.ask('DELETE', `${copy.body.id}/steps/${steps[1].id}`), 200);
  t.is((await campaign.blobs()).length, 1);
});

async function filesOf(t: ExecutionContext, raw: string | undefined): Promise<string[][]> {
  t.truthy(raw);
  const { attachments } = await simpleParser(raw!);
  return attachments.map(({ filename, contentType, content }) => [filename!, contentType, content.toString()]);
}

test.serial('an approved campaign sends the files that were approved, and no others', async (t) => {
  const desk = await openApproved(stage);
  const attach = (filename: string) =>
    desk.asPerson('POST', `/campaigns/${desk.campaignId}/attachments`, form(filename, 'An offer', desk.stepId));
  assertStatus(t, await attach('offer.txt'), 201);
  await desk.slotComes();
  t.is(desk.smtp.offered, 0, 'a file that nobody approved does not leave');
  t.deepEqual(await desk.loggedFields(), ['attachments']);
  const [approval] = await desk.pending();
  t.like(approval.payload.steps[0].attachments[0], { filename: 'offer.txt', size_bytes: 8 });
  t.deepEqual(approval.payload.samples[0].attachments, [{ filename: 'offer.txt', size: 8 }]);
  t.is((await desk.decide(approval.id)).body.status, 'executed');
  await desk.slotComes();
  t.deepEqual(await filesOf(t, desk.smtp.taken[0]?.raw), [['offer.txt', 'text/plain', 'An offer']]);

  const sent = await db('sends').where({ campaign_id: desk.campaignId, state: 'sent' }).first('id');
  const message = () => desk.asPerson('GET', `/unibox/${sent.id}`);
  const [file] = (await message()).body.attachments;
  t.like(file, { filename: 'offer.txt', left_out: null });
  t.is((await desk.asPerson('GET', file.url.replace('/v1', ''))).text, 'An offer');
  const [{ id }] = (await desk.asPerson('GET', `/campaigns/${desk.campaignId}/attachments`)).body.data;
  assertStatus(t, await desk.asPerson('DELETE', `/campaigns/${desk.campaignId}/attachments/${id}`), 204);
  t.like((await message()).body.attachments[0], { filename: 'offer.txt', url: null, left_out: 'erased' });
});
