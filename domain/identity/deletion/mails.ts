import { across } from '../../../db/across.ts';
import type { Row } from '../../../db/rows.ts';
import type { SystemMessage } from '../../../lib/mail/index.ts';
import { message, toLanguage, type Message } from '../../../messages/index.ts';
import { render } from '../../../messages/render.ts';
import { sendClaimedMail } from '../../platform/claimed-mail.ts';
import { ANONYMOUS } from '../../platform/kernel/actor.ts';
import type { Ctx, Deps } from '../../platform/kernel/context.ts';
import type { DeletionRow } from './deletions.ts';

type MailRow = Row<'deletion_mails'>;

/**
 * Sends the due emails of a deletion, each once. An email with an unknown result is not sent again.
 * @returns false if the mail server temporarily refused an email
 */
export async function sendMails(deps: Deps, deletion: DeletionRow): Promise<boolean> {
  const mails = across(deps.db, 'maintenance').table('deletion_mails');
  await across(deps.db, 'maintenance')
    .table('deletion_mails')
    .where({ deletion_id: deletion.id, state: 'sending' })
    .update({ state: 'uncertain', settled_at: deps.clock.now() });
  let isMailed = true;
  for (const mail of await mails.where({ deletion_id: deletion.id, state: 'due' }).orderBy('id'))
    if ((await sendOne(deps, deletion, mail)) !== undefined) isMailed = false;
  return isMailed;
}

/** Deletes the stored emails of a deletion, with the recipients' addresses. */
export async function forgetMails({ db }: Deps, { id }: DeletionRow): Promise<void> {
  await across(db, 'maintenance').table('deletion_mails').where({ deletion_id: id }).delete();
}

async function sendOne(deps: Deps, deletion: DeletionRow, mail: MailRow): Promise<unknown> {
  const row = () => across(deps.db, 'maintenance').table('deletion_mails').where({ id: mail.id });
  const [claimed] = await row().where({ state: 'due' }).update({ state: 'sending' }).returning('id');
  if (!claimed) return undefined;
  const requestId = `deletion/${deletion.id}`;
  const ctx: Ctx = { ...deps, actor: ANONYMOUS, requestId };
  return sendClaimedMail(
    ctx,
    deletionMail(deps, deletion, mail),
    {
      update: (fields) => row().update(fields),
      delete: () => row().update({ state: 'due' }),
    },
    { deletionId: deletion.id },
  );
}

function deletionMail({ config }: Deps, deletion: DeletionRow, mail: MailRow): SystemMessage {
  const say = (said: Message) => render(said, toLanguage(mail.language) ?? 'en');
  const at = deletion.scheduled_for.toISOString();
  const workspace = mail.name.replace(/\s+/g, ' ');
  const { subject, text } = (deletion.kind === 'workspace' ? OF_WORKSPACE : OF_ACCOUNT)[mail.moment]({ workspace, at });
  const page = `${config.APP_URL}/settings${deletion.kind === 'workspace' ? '/workspace' : ''}`;
  const further = mail.moment === 'done' ? '' : `\n${say(message('mail.deletion_call_back'))}\n\n    ${page}\n`;
  return { to: mail.email, subject: say(subject), text: `${say(text)}\n${further}` };
}

type Written = Record<
  MailRow['moment'],
  (values: { workspace: string; at: string }) => { subject: Message; text: Message }
>;

const OF_WORKSPACE: Written = {
  scheduled: ({ workspace, at }) => ({
    subject: message('mail.workspace_deletion.scheduled.subject', { workspace, at }),
    text: message('mail.workspace_deletion', { workspace, at }),
  }),
  reminder: ({ workspace, at }) => ({
    subject: message('mail.workspace_deletion.reminder.subject', { workspace }),
    text: message('mail.workspace_deletion', { workspace, at }),
  }),
  done: ({ workspace }) => ({
    subject: message('mail.workspace_deletion.done.subject', { workspace }),
    text: message('mail.workspace_deletion.done', { workspace }),
  }),
};

const OF_ACCOUNT: Written = {
  scheduled: ({ at }) => ({
    subject: message('mail.account_deletion.scheduled.subject', { at }),
    text: message('mail.account_deletion', { at }),
  }),
  reminder: ({ at }) => ({
    subject: message('mail.account_deletion.reminder.subject'),
    text: message('mail.account_deletion', { at }),
  }),
  done: () => ({
    subject: message('mail.account_deletion.done.subject'),
    text: message('mail.account_deletion.done'),
  }),
};
