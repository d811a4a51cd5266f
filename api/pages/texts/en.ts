import { inWords, type Said } from '../../../lib/errors.ts';
import { PERMISSIONS, type Permission } from '../../../lib/permissions.ts';
import { html, type Html } from '../../http/html.ts';

/** How emails offer to unsubscribe. */
const UNSUBSCRIBE_MODES: Readonly<Record<string, string>> = {
  inherit: 'as set for the workspace',
  text: 'a sentence in the email',
  link: 'a link in the email',
  off: 'none',
};

/**
 * The texts of the server-rendered pages in English. Other languages have the same entries: their type is that of this one. A text with values in it is a
 * function; one with emphasis or a link is HTML, in which values are escaped.
 */
export const en = {
  lang: 'en',
  /** What the domain says in English, of something with a stable code. */
  said: (_code: string, words: string): string => words,
  /** What the domain says in English and without a code. */
  plainly: (words: Said): string => inWords(words, 'en'),
  day: (date: Date): string =>
    date.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' }),
  /** A moment as people read it; the pages run no script that could know their time zone. */
  moment: (date: Date): string => `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`,

  refused: {
    failed: 'Something went wrong',
    tooMany: 'Too many attempts',
    other: 'This did not work',
    again: 'Open the page again',
    request: 'Request',
  },
  field: {
    email: 'Email address',
    password: 'Password',
    newPassword: 'New password',
    passwordRule: (least: number) => `At least ${least} characters; a few words are easy to remember.`,
    name: 'Your name',
    code: 'Code',
    sixDigits: 'Six digits',
    workspace: 'Workspace',
  },
  goOn: 'Go on',
  signedInAs: (email: string) => html`Signed in as <strong>${email}</strong>`,
  notYou: 'Not you? Sign out',

  signIn: {
    title: 'Sign in',
    toDashboard: 'Sign in to your workspace.',
    toApps: 'Sign in to see the apps you have authorized.',
    toApproval: 'Sign in to see what waits for your decision.',
    toApp: 'Sign in to go on to the app that asks for access.',
    toInvitation: 'Sign in to accept the invitation.',
    button: 'Sign in',
    forgotten: 'Forgotten your password?',
    bothFields: 'Enter your email address and your password',
  },
  code: {
    title: 'Check your mail',
    inLog:
      'This installation sends no mail yet: the code of six digits is in the terminal of npm start, or in the log of the API.',
    mailed: 'We sent you a code of six digits.',
    mailedTo: (email: string) => `We sent a code of six digits to ${email}.`,
    lasts: (minutes: number) => `It is good for ${minutes} minutes.`,
    noMail: 'No mail, or another account?',
    restart: 'Start again',
    noMailYet: 'No mail?',
    beginAgain: 'Begin again',
  },
  reset: {
    title: 'Set a new password',
    mailsLink: 'We mail you a link.',
    mailIt: 'Mail the link',
    written: (email: string, minutes: number) =>
      html`We have written to <strong>${email}</strong>. The link in the mail is good for ${minutes} minutes.`,
    endsSessions: 'All your sessions end with it.',
    button: 'Set the password',
    done: 'Your new password is set',
    allEnded: (signIn: string) =>
      html`Every session of your account has ended. <a href="${signIn}">Sign in</a> with the new password.`,
    dead: 'This link does not work any more',
    deadWhy: (minutes: number, again: string) =>
      html`It was used, or is older than ${minutes} minutes. <a href="${again}">Have another one mailed.</a>`,
  },
  invitation: {
    title: (organization: string) => `Join ${organization}`,
    invited: (role: string) => html`You are invited to this workspace as <strong>${role}</strong>.`,
    makeAccount: (email: string) => html`Make an account for <strong>${email}</strong>:`,
    join: 'Join',
    signedIn: (email: string) => `You are signed in as ${email}.`,
    otherAddress: 'This invitation is for another address',
    sentTo: (invited: string, email: string) =>
      html`It was sent to <strong>${invited}</strong>; you are signed in as <strong>${email}</strong>.`,
    signOut: 'Sign out and go on',
    joined: (organization: string) => `You belong to ${organization}`,
    joinedWhy: 'You can use the workspace now, with your address and your password.',
    apps: 'Your authorized apps',
    reference: 'API reference',
  },
  setup: {
    title: 'Set up Heron',
    lead: 'This installation has no account yet. You become its administrator, and the owner of its first workspace.',
    company: 'Your company or team',
    button: 'Set up',
    nameRule: 'The workspace needs a name of at most 200 characters',
    yours: 'Heron is yours',
    ready: (organization: string) => `${organization} is ready`,
    signedIn: 'You are signed in here, as the administrator of this installation.',
    open: 'Open the dashboard',
    key: 'Your API key',
    keyOnce:
      'It is shown this once and may do everything in this workspace. Keep it like a password; keys that may do less are made in the dashboard, under Agents.',
    where: 'Where everything runs',
    reference: 'API reference',
    tracking: 'Tracking',
    apps: 'Authorized apps',
    next: 'Next',
    tryKey: 'See that the key works, and every part behind the API:',
    tryMail:
      'Start mail servers to try things with, in a second terminal; they show every letter on a page and send nothing to anybody:',
    tryCampaign: 'Run a first campaign, from a mailbox to a reply:',
    more: (docs: string) =>
      html`docs/first-campaign.md takes the same way step by step, with curl and in TypeScript. Every endpoint is in the <a href="${docs}">API reference</a>.`,
    notBuilt: html`This is the API of a Heron installation. Its dashboard was not built (<code>npm run build</code> does that); programs use it with an API key.`,
    document: 'OpenAPI document',
    yourApps: 'Your authorized apps',
    up: 'Heron is up',
    unclaimed: html`This installation has no account yet. Open the <strong>setup link</strong>: the API printed it when it started, in the terminal of <code>npm start</code> or in its log. It is good for one day; a restart prints a new one.`,
    meanwhile: (docs: string) => html`Meanwhile there is the <a href="${docs}">API reference</a>.`,
    badLink: 'This setup link does not work',
    badLinkWhy: 'It is incomplete or older than a day. Restart the API: it prints a new link.',
    claimed: 'This installation has an owner',
    claimedWhy: (signIn: string) =>
      html`The setup link has been used already. If that was you, <a href="${signIn}">sign in</a>; for another API key, run <code>npm run heron -- bootstrap</code> on the machine.`,
  },
  consent: {
    title: (app: string) => `${app} asks for access`,
    notVerified: html`<strong>Not verified.</strong> This app registered itself, and nobody has checked that it is who it says. Go on only if you have just started this yourself and know where you are sent:`,
    ownApp: (owner: string, destination: Html) =>
      html`An app of <strong>${owner}</strong>. Afterwards you are sent to ${destination}.`,
    goneApp: (destination: Html) =>
      html`An app of a workspace that is gone. Afterwards you are sent to ${destination}.`,
    foreignApp: (owner: string) =>
      html`<strong>From another workspace.</strong> This app belongs to the workspace <strong>${owner}</strong>, and nobody has checked that it is who it says. What you approve, that workspace gets. Go on only if you know it and where you are sent:`,
    noWorkspace: 'You are not a member of any workspace, so there is nothing to give access to.',
    workspace: (name: string) => html`Workspace: <strong>${name}</strong>`,
    change: 'Change',
    choose: 'Choose',
    could: (workspace: string) =>
      html`In <strong>${workspace}</strong> it could do the following, in your name, until you take it back. Leave out what you do not want to give.`,
    notYours: 'Your role in this workspace does not let you give this.',
    deny: 'Deny',
    approve: 'Approve',
    takeBack: (apps: string) =>
      html`What you approve stands under <a href="${apps}">authorized apps</a>, where you can take it back at any time.`,
    changed: 'The workspace has been changed meanwhile. Look at it again',
    refused: 'This request does not work',
    appMistake:
      'The app that sent you here made a mistake. You have not been signed in to it, and nothing was sent to it.',
    callsItself: (app: string) => html`The app calls itself <strong>${app}</strong>.`,
    registeredItself: 'It registered itself and nobody has checked who it is.',
    notOwn: 'It is not an app of your own workspace, and nobody has checked who it is.',
    leadsTo: (destination: Html) => html`Going back to it leads to ${destination}.`,
    goBack: 'Go back to the app',
    backTo: (app: string) => `Back to ${app}`,
    onYourWay: (destination: Html) => html`You are on your way to ${destination}.`,
    onComputer: (host: string) => html`a program on this computer (<strong>${host}</strong>)`,
    onDevice: (scheme: string) => html`an app on this device (<strong>${scheme}</strong>)`,
  },
  apps: {
    title: 'Authorized apps',
    signOut: 'Sign out',
    none: 'No app has access. When you approve one, it stands here.',
    actFor: (email: string) =>
      html`These apps act for <strong>${email}</strong>, or for others in a workspace you own, in the workspace named with each.`,
    since: 'since',
    lastUsed: 'last used',
    notUsed: 'not used yet',
    people: (count: number) => `${count} people`,
    notVerified: 'Not verified',
    may: (count: number) => (count === 1 ? 'One thing it may do' : `${count} things it may do`),
    revokeLabel: (app: string, organization: string) => `Revoke access of ${app} to ${organization}`,
    revoke: 'Revoke',
    revokeForAll: 'Revoke for the workspace',
  },
  scopes: {
    see: 'See',
    change: 'Change',
    special: 'Special',
    sends: 'Sends email',
    actsAlone: 'Acts by itself',
    lastingAccess: 'Gives lasting access',
    dataElsewhere: 'Sends data elsewhere',
    reachesOthers: 'Reaches other services',
    spendsMoney: 'Spends money',
    spendsCredits: 'Spends credits',
    privateMail: 'Reads private mail',
    manyAtOnce: 'Changes many at once',
  },
  permissions: Object.fromEntries(PERMISSIONS.map(({ name, description }) => [name, description])) as Record<
    Permission,
    string
  >,
  approval: {
    asked: (name: string, isKey: boolean, at: string) =>
      html`Asked for by <strong>${name}</strong>, ${isKey ? 'an API key' : 'an app'} of this workspace, at ${at}.`,
    waits: (until: string) => html`<strong>Waits for your decision until ${until}.</strong> Nothing has been sent.`,
    approved: (at: string | null) =>
      html`<strong>Approved${at && ` at ${at}`}.</strong> It is checked once more and then carried out.`,
    executed: (at: string | null) => html`<strong>Approved${at && ` at ${at}`}, and carried out.</strong>`,
    denied: (at: string | null) => html`<strong>Denied${at && ` at ${at}`}.</strong> It does not happen.`,
    expired: 'This has ended without being carried out.',
    undecided: 'No decision within 30 minutes',
    decision: 'Your decision',
    reason: 'Reason (optional)',
    deny: 'Deny',
    approve: 'Approve',
    notYours: 'Your role cannot decide this',
    needsSending: (workspace: string) => `Approvals are for people whose role in ${workspace} may send.`,
    elsewhere: (workspace: string) => `An approval in ${workspace}`,
    belongs: (workspace: string) =>
      html`This belongs to the workspace <strong>${workspace}</strong>; you have selected another one.`,
    goTo: (workspace: string) => `Go to ${workspace}`,
    details: 'Details',
    asSeen: 'As recipients would see it',
    template: 'The whole template',
    recipients: 'Recipients',
    people: (count: number) => (count === 1 ? '1 person' : `${count} people`),
    of: (source: string) => ` of ${source}`,
    more: (count: number) => `and ${count} more`,
    from: 'From',
    noMailbox: 'no mailbox',
    when: 'When',
    atOnce: 'At once',
    yes: 'yes',
    no: 'no',
    /** Of a field whose name only its writer knows. */
    fact: (name: string): string => name.replaceAll('_', ' '),
    /** @param name of its field; empty for a part of a list */
    value: (value: string, name: string): string =>
      (name === 'unsubscribe_mode' ? UNSUBSCRIBE_MODES[value] : undefined) ?? value,
    checks: 'Checks',
    faults: (score: string) => `The checks found faults${score}.`,
    passed: (score: string) => `The checks were passed${score}.`,
    score: (score: number) => ` (score ${score} of 100)`,
    severity: (severity: string): string => severity,
    fromTo: (from: string, to: string) => `From ${from} to ${to}`,
    cc: (addresses: string) => `, cc ${addresses}`,
    attached: (files: string) => `Attached: ${files}`,
    emailTo: (to: string) => `Email to ${to}`,
    textVersion: 'Its text version',
    step: (type: string): string => type.replaceAll('_', ' '),
    /** A way out of a step. @param step its number; empty where the sequence ends @param when conditions; empty: always */
    link: (step: string, when: string): string => `${step ? `to step ${step}` : 'ends'}${when && ` if: ${when}`}`,
    later: (days: number) => `, ${days} ${days === 1 ? 'day' : 'days'} later`,
    sameConversation: 'In the same conversation',
  },
  mailbox: {
    title: 'Connect a mailbox',
    question: 'Connect this mailbox?',
    would: (organization: string, email: string, provider: string) =>
      html`The workspace <strong>${organization}</strong> would send and read mail of <strong>${email}</strong> (${provider}).`,
    askedBy: (name: string) => html` <strong>${name}</strong> asked for it.`,
    warning:
      'Go on only if you know this workspace: whoever belongs to it can then read and write mail of this mailbox.',
    connect: 'Connect',
    decline: 'Do not connect',
    declined: 'Not connected',
    declinedWhy: 'The mailbox was not connected; its tokens are forgotten.',
    connected: 'The mailbox is connected',
    usable: (email: string) => `${email} can be used now. You can close this page.`,
  },
  integration: {
    connected: 'The account is connected',
    usable: (label: string) => `${label} can be used now. You can close this page.`,
  },
  weeklyReport: {
    title: 'Weekly report',
    of: (organization: string) => `Weekly report of ${organization}`,
    stopped: 'You do not get it any more.',
    comes: 'You get it every Monday.',
    resume: 'Send it to me again',
    stop: 'Stop these mails',
    badLink: 'This link does not work',
    badLinkWhy: 'It is not complete, or you have left the workspace.',
  },
  /** Pages for people who got mail; they have no account here. */
  recipient: {
    unsubscribe: 'Unsubscribe',
    question: (organization: string, address: string) => `Stop emails from ${organization} to ${address}?`,
    done: 'You are unsubscribed',
    doneWhy: (organization: string, address: string) => `${organization} will not write to ${address} any more.`,
    badLink: 'This link does not work',
    badLinkWhy: 'It may be incomplete, or too old. If you copied it, copy all of it.',
    trouble: 'Something went wrong',
    troubleWhy: 'Please try again in a moment.',
    reference: (reference: string) => `Reference: ${reference}`,
  },
};

/** Every text of the pages, in one language. */
export type PageTexts = typeof en;
