import { escapeHtml } from '../../domain/mail/messages/text.ts';
import type { Permission } from '../../lib/permissions.ts';
import { message, SENTENCES, type Language, type Message, type MessageCode } from '../../messages/index.ts';
import { render } from '../../messages/render.ts';
import { Html } from '../http/html.ts';
import { preferredLanguage } from '../http/language.ts';

/** Texts of the server-rendered pages in one language: plain text, or HTML whose values are escaped. */
export type PageTexts = ReturnType<typeof textsIn>;

const known = new Map<Language, PageTexts>();

/** Returns the texts in the language that a reader's browser prefers; see {@link preferredLanguage}. */
export function textsFor(acceptLanguage: string | undefined): PageTexts {
  const language = preferredLanguage(acceptLanguage);
  const texts = known.get(language) ?? textsIn(language);
  known.set(language, texts);
  return texts;
}

/** Values of a message. Html values are inserted unescaped into messages that are HTML. */
type Markup<Code extends MessageCode> =
  Parameters<typeof message<Code>> extends [unknown, infer Given]
    ? [values: { [Name in keyof Given]: Given[Name] | Html }]
    : [];

/** Functions that render messages in one language. */
type Speech = ReturnType<typeof speechIn>;

function speechIn(language: Language) {
  const say = (said: Message): string => render(said, language);
  const rich = <Code extends MessageCode>(code: Code, ...[values = {}]: Markup<Code>): Html =>
    new Html(say({ code, values: Object.fromEntries(Object.entries(values).map(escaped)) }));
  /** Returns the message `list.name` for a name that may be unknown; `otherwise` if there is no such message. */
  const named = (list: string, name: string, otherwise = name.replaceAll('_', ' ')): string => {
    const code = `${list}.${name}`;
    return code in SENTENCES.en ? say({ code: code as MessageCode, values: {} }) : otherwise;
  };
  return { say, rich, named };
}

function textsIn(language: Language) {
  const speech = speechIn(language);
  const { say, rich } = speech;
  return {
    lang: language,
    plainly: (words: Message): string => render(words, language),
    day: (date: Date): string => date.toLocaleDateString(language === 'en' ? 'en-GB' : language, DAY),
    /** Formats a time in UTC, because the pages run no script and so the reader's time zone is unknown. */
    moment: (date: Date): string => say(message('mail.moment', { at: date.toISOString() })),
    permission: (name: Permission): string => say({ code: `permission.${name}`, values: {} }),
    refused: refusedTexts(speech),
    field: fieldTexts(speech),
    goOn: say(message('page.go_on')),
    signedInAs: (email: string) => rich('page.signed_in_as', { email }),
    notYou: say(message('page.not_you')),
    signIn: signInTexts(speech),
    code: codeTexts(speech),
    reset: resetTexts(speech),
    invitation: invitationTexts(speech),
    setup: setupTexts(speech),
    consent: consentTexts(speech),
    apps: appsTexts(speech),
    scopes: scopesTexts(speech),
    approval: approvalTexts(speech),
    mailbox: mailboxTexts(speech),
    integration: integrationTexts(speech),
    weeklyReport: weeklyReportTexts(speech),
    recipient: recipientTexts(speech),
  };
}

function refusedTexts({ say }: Speech) {
  return {
    failed: say(message('page.refused.failed')),
    tooMany: say(message('page.refused.too_many')),
    other: say(message('page.refused.other')),
    again: say(message('page.refused.again')),
    request: say(message('page.refused.request')),
  };
}

function fieldTexts({ say }: Speech) {
  return {
    email: say(message('page.field.email')),
    password: say(message('page.field.password')),
    newPassword: say(message('page.field.new_password')),
    passwordRule: (least: number) => say(message('page.field.password_rule', { least })),
    name: say(message('page.field.name')),
    code: say(message('page.field.code')),
    sixDigits: say(message('page.field.six_digits')),
    workspace: say(message('page.field.workspace')),
  };
}

function signInTexts({ say }: Speech) {
  return {
    title: say(message('page.sign_in.title')),
    toDashboard: say(message('page.sign_in.to_dashboard')),
    toApps: say(message('page.sign_in.to_apps')),
    toApproval: say(message('page.sign_in.to_approval')),
    toApp: say(message('page.sign_in.to_app')),
    toInvitation: say(message('page.sign_in.to_invitation')),
    button: say(message('page.sign_in.button')),
    forgotten: say(message('page.sign_in.forgotten')),
  };
}

function codeTexts({ say }: Speech) {
  return {
    title: say(message('page.code.title')),
    inLog: say(message('page.code.in_log')),
    mailed: say(message('page.code.mailed')),
    mailedTo: (email: string) => say(message('page.code.mailed_to', { email })),
    lasts: (minutes: number) => say(message('page.code.lasts', { minutes })),
    noMail: say(message('page.code.no_mail')),
    restart: say(message('page.code.restart')),
    noMailYet: say(message('page.code.no_mail_yet')),
    beginAgain: say(message('page.code.begin_again')),
  };
}

function resetTexts({ say, rich }: Speech) {
  return {
    title: say(message('page.reset.title')),
    mailsLink: say(message('page.reset.mails_link')),
    mailIt: say(message('page.reset.mail_it')),
    written: (email: string, minutes: number) => rich('page.reset.written', { email, minutes }),
    endsSessions: say(message('page.reset.ends_sessions')),
    button: say(message('page.reset.button')),
    done: say(message('page.reset.done')),
    allEnded: (signIn: string) => rich('page.reset.all_ended', { signIn }),
    dead: say(message('page.reset.dead')),
    deadWhy: (minutes: number, again: string) => rich('page.reset.dead_why', { minutes, again }),
  };
}

function invitationTexts({ say, rich }: Speech) {
  return {
    title: (organization: string) => say(message('page.invitation.title', { organization })),
    invited: (role: string) => rich('page.invitation.invited', { role }),
    makeAccount: (email: string) => rich('page.invitation.make_account', { email }),
    join: say(message('page.invitation.join')),
    signedIn: (email: string) => say(message('page.invitation.signed_in', { email })),
    otherAddress: say(message('page.invitation.other_address')),
    sentTo: (invited: string, email: string) => rich('page.invitation.sent_to', { invited, email }),
    signOut: say(message('page.invitation.sign_out')),
    joined: (organization: string) => say(message('page.invitation.joined', { organization })),
    joinedWhy: say(message('page.invitation.joined_why')),
    apps: say(message('page.invitation.apps')),
    reference: say(message('page.invitation.reference')),
  };
}

function setupTexts({ say, rich }: Speech) {
  return {
    title: say(message('page.setup.title')),
    lead: say(message('page.setup.lead')),
    company: say(message('page.setup.company')),
    button: say(message('page.setup.button')),
    yours: say(message('page.setup.yours')),
    ready: (organization: string) => say(message('page.setup.ready', { organization })),
    signedIn: say(message('page.setup.signed_in')),
    open: say(message('page.setup.open')),
    key: say(message('page.setup.key')),
    keyOnce: say(message('page.setup.key_once')),
    where: say(message('page.setup.where')),
    reference: say(message('page.setup.reference')),
    tracking: say(message('page.setup.tracking')),
    apps: say(message('page.setup.apps')),
    next: say(message('page.setup.next')),
    tryKey: say(message('page.setup.try_key')),
    tryMail: say(message('page.setup.try_mail')),
    tryCampaign: say(message('page.setup.try_campaign')),
    more: (docs: string) => rich('page.setup.more', { docs }),
    notBuilt: rich('page.setup.not_built'),
    document: say(message('page.setup.document')),
    yourApps: say(message('page.setup.your_apps')),
    up: say(message('page.setup.up')),
    unclaimed: rich('page.setup.unclaimed'),
    meanwhile: (docs: string) => rich('page.setup.meanwhile', { docs }),
    badLink: say(message('page.setup.bad_link')),
    badLinkWhy: say(message('page.setup.bad_link_why')),
    claimed: say(message('page.setup.claimed')),
    claimedWhy: (signIn: string) => rich('page.setup.claimed_why', { signIn }),
  };
}

function consentTexts({ say, rich }: Speech) {
  return {
    title: (app: string) => say(message('page.consent.title', { app })),
    notVerified: rich('page.consent.not_verified'),
    ownApp: (owner: string, destination: Html) => rich('page.consent.own_app', { owner, destination }),
    goneApp: (destination: Html) => rich('page.consent.gone_app', { destination }),
    foreignApp: (owner: string) => rich('page.consent.foreign_app', { owner }),
    noWorkspace: say(message('page.consent.no_workspace')),
    workspace: (name: string) => rich('page.consent.workspace', { name }),
    change: say(message('page.consent.change')),
    choose: say(message('page.consent.choose')),
    could: (workspace: string) => rich('page.consent.could', { workspace }),
    notYours: say(message('page.consent.not_yours')),
    deny: say(message('page.consent.deny')),
    approve: say(message('page.consent.approve')),
    takeBack: (apps: string) => rich('page.consent.take_back', { apps }),
    refused: say(message('page.consent.refused')),
    appMistake: say(message('page.consent.app_mistake')),
    callsItself: (app: string) => rich('page.consent.calls_itself', { app }),
    registeredItself: say(message('page.consent.registered_itself')),
    notOwn: say(message('page.consent.not_own')),
    leadsTo: (destination: Html) => rich('page.consent.leads_to', { destination }),
    goBack: say(message('page.consent.go_back')),
    backTo: (app: string) => say(message('page.consent.back_to', { app })),
    onYourWay: (destination: Html) => rich('page.consent.on_your_way', { destination }),
    onComputer: (host: string) => rich('page.consent.on_computer', { host }),
    onDevice: (scheme: string) => rich('page.consent.on_device', { scheme }),
  };
}

function appsTexts({ say, rich }: Speech) {
  return {
    title: say(message('page.apps.title')),
    signOut: say(message('page.apps.sign_out')),
    none: say(message('page.apps.none')),
    actFor: (email: string) => rich('page.apps.act_for', { email }),
    since: say(message('page.apps.since')),
    lastUsed: say(message('page.apps.last_used')),
    notUsed: say(message('page.apps.not_used')),
    people: (count: number) => say(message('page.apps.people', { count })),
    notVerified: say(message('page.apps.not_verified')),
    may: (count: number) => say(message('page.apps.may', { count })),
    revokeLabel: (app: string, organization: string) => say(message('page.apps.revoke_label', { app, organization })),
    revoke: say(message('page.apps.revoke')),
    revokeForAll: say(message('page.apps.revoke_for_all')),
  };
}

function scopesTexts({ say }: Speech) {
  return {
    see: say(message('page.scopes.see')),
    change: say(message('page.scopes.change')),
    special: say(message('page.scopes.special')),
    sends: say(message('page.scopes.sends')),
    actsAlone: say(message('page.scopes.acts_alone')),
    lastingAccess: say(message('page.scopes.lasting_access')),
    dataElsewhere: say(message('page.scopes.data_elsewhere')),
    reachesOthers: say(message('page.scopes.reaches_others')),
    spendsMoney: say(message('page.scopes.spends_money')),
    spendsCredits: say(message('page.scopes.spends_credits')),
    privateMail: say(message('page.scopes.private_mail')),
    manyAtOnce: say(message('page.scopes.many_at_once')),
  };
}

function approvalTexts({ say, rich, named }: Speech) {
  return {
    asked: (name: string, isKey: boolean, at: string) =>
      rich(isKey ? 'page.approval.asked_by_key' : 'page.approval.asked_by_app', { name, at }),
    waits: (until: string) => rich('page.approval.waits', { until }),
    approved: (at: string) => rich('page.approval.approved', { at }),
    executed: (at: string) => rich('page.approval.executed', { at }),
    denied: (at: string) => rich('page.approval.denied', { at }),
    expired: say(message('page.approval.expired')),
    decision: say(message('page.approval.decision')),
    reason: say(message('page.approval.reason')),
    leadsPerDay: (name: string) => say(message('page.approval.leads_per_day', { name })),
    leadsPerDayWhy: say(message('page.approval.leads_per_day_why')),
    deny: say(message('page.approval.deny')),
    approve: say(message('page.approval.approve')),
    notYours: say(message('page.approval.not_yours')),
    needsSending: (workspace: string) => say(message('page.approval.needs_sending', { workspace })),
    elsewhere: (workspace: string) => say(message('page.approval.elsewhere', { workspace })),
    belongs: (workspace: string) => rich('page.approval.belongs', { workspace }),
    goTo: (workspace: string) => say(message('page.approval.go_to', { workspace })),
    details: say(message('page.approval.details')),
    asSeen: say(message('page.approval.as_seen')),
    template: say(message('page.approval.template')),
    recipients: say(message('page.approval.recipients')),
    people: (count: number) => say(message('page.approval.people', { count })),
    of: (source: string) => say(message('page.approval.of', { source })),
    more: (count: number) => say(message('page.approval.more', { count })),
    from: say(message('page.approval.from')),
    noMailbox: say(message('page.approval.no_mailbox')),
    answersTo: (address: string) => say(message('page.approval.answers_to', { address })),
    through: (server: string) => say(message('page.approval.through', { server })),
    when: say(message('page.approval.when')),
    atOnce: say(message('page.approval.at_once')),
    yes: say(message('page.approval.yes')),
    no: say(message('page.approval.no')),
    /** Returns the label of a field; its own name if there is no label. */
    fact: (name: string) => named('page.fact', name),
    /** Returns a value as text. @param name field of the value; empty for an entry of a list */
    value: (value: string, name: string) => named(`page.choice.${name}`, value, value),
    checks: say(message('page.approval.checks')),
    faults: (score: number) => say(message('page.approval.faults', { score })),
    passed: (score: number) => say(message('page.approval.passed', { score })),
    severity: (severity: string) => named('page.severity', severity),
    fromTo: (from: string, to: string) => say(message('page.approval.from_to', { from, to })),
    cc: (addresses: string) => say(message('page.approval.cc', { addresses })),
    attached: (files: string) => say(message('page.approval.attached', { files })),
    emailTo: (to: string) => say(message('page.approval.email_to', { to })),
    textVersion: say(message('page.approval.text_version')),
    step: (type: string) => named('page.step', type),
    /**
     * Describes a link out of a step. @param step number of the target; empty for the end of the sequence @param when
     * conditions; empty means always
     */
    link: (step: string, when: string) => say(linkOf(step, when)),
    later: (days: number) => say(message('page.approval.later', { days })),
    sameConversation: say(message('page.approval.same_conversation')),
  };
}

function mailboxTexts({ say, rich }: Speech) {
  return {
    title: say(message('page.mailbox.title')),
    question: say(message('page.mailbox.question')),
    would: (organization: string, email: string, provider: string) =>
      rich('page.mailbox.would', { organization, email, provider }),
    askedBy: (name: string) => rich('page.mailbox.asked_by', { name }),
    warning: say(message('page.mailbox.warning')),
    connect: say(message('page.mailbox.connect')),
    decline: say(message('page.mailbox.decline')),
    declined: say(message('page.mailbox.declined')),
    declinedWhy: say(message('page.mailbox.declined_why')),
    connected: say(message('page.mailbox.connected')),
    usable: (email: string) => say(message('page.mailbox.usable', { email })),
  };
}

function integrationTexts({ say }: Speech) {
  return {
    connected: say(message('page.integration.connected')),
    usable: (label: string) => say(message('page.integration.usable', { label })),
  };
}

function weeklyReportTexts({ say }: Speech) {
  return {
    title: say(message('page.weekly_report.title')),
    of: (organization: string) => say(message('page.weekly_report.of', { organization })),
    stopped: say(message('page.weekly_report.stopped')),
    comes: say(message('page.weekly_report.comes')),
    resume: say(message('page.weekly_report.resume')),
    stop: say(message('page.weekly_report.stop')),
    badLink: say(message('page.weekly_report.bad_link')),
    badLinkWhy: say(message('page.weekly_report.bad_link_why')),
  };
}

function recipientTexts({ say }: Speech) {
  return {
    unsubscribe: say(message('page.recipient.unsubscribe')),
    question: (organization: string, address: string) =>
      say(message('page.recipient.question', { organization, address })),
    done: say(message('page.recipient.done')),
    doneWhy: (organization: string, address: string) =>
      say(message('page.recipient.done_why', { organization, address })),
    badLink: say(message('page.recipient.bad_link')),
    badLinkWhy: say(message('page.recipient.bad_link_why')),
    trouble: say(message('page.recipient.trouble')),
    troubleWhy: say(message('page.recipient.trouble_why')),
    reference: (reference: string) => say(message('page.recipient.reference', { reference })),
  };
}

const DAY = { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' } as const;

function escaped([name, value]: [string, unknown]): [string, string | number] {
  if (value instanceof Html) return [name, value.text];
  return [name, typeof value === 'number' ? value : escapeHtml(String(value))];
}

function linkOf(step: string, when: string): Message {
  if (step)
    return when ? message('page.approval.link_to_if', { step, when }) : message('page.approval.link_to', { step });
  return when ? message('page.approval.link_end_if', { when }) : message('page.approval.link_end');
}
