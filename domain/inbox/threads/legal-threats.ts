import { across } from '../../../db/across.ts';
import type { Columns } from '../../../db/rows.ts';
import { HOUR_MS } from '../../../lib/clock.ts';
import type { Config } from '../../../lib/config/index.ts';
import type { SystemMessage } from '../../../lib/mail/index.ts';
import { message, toLanguage } from '../../../messages/index.ts';
import { render } from '../../../messages/render.ts';
import { headerText } from '../../mail/messages/text.ts';
import { sendClaimedMail } from '../../platform/claimed-mail.ts';
import { systemCtx, type Deps } from '../../platform/kernel/context.ts';
import { forEachIsolated } from '../../platform/kernel/for-each-isolated.ts';
import { reader, singleStatement } from '../../platform/kernel/transact.ts';

/** Maximum number of emails in one sweep. */
const PAGE = 200;
/** Time (ms) after which an email in state `sending` is treated as abandoned, because its worker has crashed. */
const LEFT_BEHIND_MS = HOUR_MS;

interface DueMail extends Columns<'legal_threat_mails', 'message_id' | 'user_id' | 'organization_id'> {
  email: string;
  language: string | null;
  workspace: string;
  sender: string;
  subject: string;
  thread_id: string;
}

/**
 * Emails the owners about each reply that threatens legal steps, once per reply and in the owner's language. If the
 * server refuses an email temporarily, the next sweep tries again. An email with an unknown result is not sent again.
 * @returns number of emails that were due
 */
export async function mailLegalThreats(deps: Deps): Promise<number> {
  const { db, clock } = deps;
  await across(db, 'maintenance').sql(
    `update legal_threat_mails set state = 'uncertain', settled_at = :now where state = 'sending' and claimed_at < :before`,
    { now: clock.now(), before: new Date(clock.now().getTime() - LEFT_BEHIND_MS) },
  );
  const due = await across(db, 'maintenance').sql<DueMail>(
    `select l.message_id, l.user_id, l.organization_id, u.email, coalesce(u.language, o.language) as language, o.name as workspace, m.from_email as sender, m.subject, m.thread_id
     from legal_threat_mails l join users u on u.id = l.user_id join organizations o on o.id = l.organization_id
     join inbound_messages m on m.id = l.message_id
     where l.state = 'due' order by l.created_at, l.message_id, l.user_id limit ${PAGE}`,
    {},
  );
  // Uses only the ids of each row, because rows are logged if they fail.
  const ids = due.map(({ message_id: messageId, user_id: userId }) => ({ messageId, userId }));
  await forEachIsolated(deps, ids, async ({ messageId, userId }) => {
    const mail = due.find((one) => one.message_id === messageId && one.user_id === userId);
    if (mail) await sendDue(deps, mail);
  });
  return due.length;
}

async function sendDue(deps: Deps, mail: DueMail): Promise<void> {
  const { message_id: messageId, user_id: userId } = mail;
  const ctx = systemCtx(deps, mail.organization_id, 'sweep');
  const claimed = await singleStatement(ctx).sql(
    `update legal_threat_mails set state = 'sending', claimed_at = :now
     where organization_id = :org and message_id = :messageId and user_id = :userId and state = 'due' returning user_id`,
    { messageId, userId, now: ctx.clock.now() },
  );
  if (claimed.length === 0) return;
  const row = () => reader(ctx).table('legal_threat_mails').where({ message_id: messageId, user_id: userId });
  await sendClaimedMail(
    ctx,
    legalThreatMail(ctx.config, mail),
    { update: (fields) => row().update(fields), delete: () => row().update({ state: 'due', claimed_at: null }) },
    { messageId, userId },
  );
}

function legalThreatMail({ APP_URL: appUrl }: Pick<Config, 'APP_URL'>, mail: DueMail): SystemMessage {
  const language = toLanguage(mail.language);
  const workspace = headerText(mail.workspace);
  const about = { workspace, sender: mail.sender, subject: headerText(mail.subject) };
  const link = `${appUrl}/inbox?thread=${encodeURIComponent(mail.thread_id)}`;
  return {
    to: mail.email,
    subject: render(message('mail.legal_threat.subject', { workspace }), language),
    text: `${render(message('mail.legal_threat', about), language)}\n\n${render(message('mail.legal_threat_link'), language)}\n\n    ${link}\n`,
  };
}
