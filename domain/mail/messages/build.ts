import type { SendMailOptions } from 'nodemailer';
import { message } from '../../../messages/index.ts';
import { buildFooter } from './footer.ts';
import type { UnsubscribeSettings } from './footer.ts';
import { appendToBody, plainToHtml, trackingPixel } from './html.ts';
import { createLinkRewriter } from './links.ts';
import type { TrackedLink } from './links.ts';
import { renderField, spintaxSeed } from './render-source.ts';
import type { MessageError, MessageField, RenderedField } from './render-source.ts';
import { headerText } from './text.ts';
import { messageIdFor, threadMessage } from './threading.ts';
import type { Conversation } from './threading.ts';
import { resolveUtm } from './utm.ts';
import type { UtmSettings } from './utm.ts';
import { mergeValues } from './values.ts';
import type { MessageContact } from './values.ts';

/** The mailbox that sends a message. */
export interface MessageSender {
  readonly email: string;
  readonly name?: string | null;
  readonly replyTo?: string | null;
  /** Verified alias that is the From address instead of the mailbox's own address. */
  readonly sendAs?: string | null;
  readonly signatureHtml?: string | null;
  readonly signaturePlain?: string | null;
}

/** Texts of a step as written by its author. */
interface MessageStep {
  readonly subject?: string | null;
  readonly body_plain?: string | null;
  readonly body_html?: string | null;
  readonly threadReply: boolean;
}

/** A file attached to a message. */
export interface MessageFile {
  readonly filename: string;
  readonly content_type: string;
  readonly content: Buffer;
}

/** Campaign settings that affect a message. */
export interface MessageCampaign {
  readonly name: string;
  readonly textOnly: boolean;
  readonly openTracking: boolean;
  readonly linkTracking: boolean;
  readonly unsubscribeHeader: boolean;
  readonly cc?: readonly string[];
  readonly bcc?: readonly string[];
  /** UTM settings. Absent if UTM tracking is off. */
  readonly utm?: UtmSettings;
}

/** Public URLs of one message. */
interface MessageUrls {
  /** Origin of the tracking service or of the verified tracking domain, without trailing slash. */
  readonly trackingBase: string;
  /** URL of the open-tracking pixel. */
  readonly pixelUrl: string;
  /** URL of the page that the footer links to. */
  readonly unsubscribeUrl: string;
  /** URL for one-click unsubscribing by mail clients (RFC 8058). */
  readonly oneClickUrl: string;
}

/** All inputs of a message. The same input always builds the same message. */
export interface MessageInput {
  readonly sendId: string;
  readonly sender: MessageSender;
  readonly contact: MessageContact;
  /** Values stored by earlier steps of the campaign, by output key. */
  readonly app: Readonly<Record<string, unknown>>;
  readonly step: MessageStep;
  readonly campaign: MessageCampaign;
  readonly unsubscribe: UnsubscribeSettings;
  readonly conversation: Conversation;
  readonly urls: MessageUrls;
  /** Returns the click ticket id of the message's nth link, from 0. The value must be the same on every build. */
  readonly ticketId: (index: number) => string;
  readonly attachments?: readonly MessageFile[];
}

interface MailAddress {
  readonly name: string;
  readonly address: string;
}

/** Options for nodemailer's `sendMail`. */
interface MessageOptions extends SendMailOptions {
  readonly from: MailAddress;
  readonly to: MailAddress;
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  readonly messageId: string;
}

/** A message ready for nodemailer, with the data that the send must record. */
export interface BuiltMessage {
  readonly options: MessageOptions;
  readonly links: readonly TrackedLink[];
  /** Placeholders without a value. They do not make the message invalid. */
  readonly unresolved: readonly string[];
  /** Faults that prevent sending. A message with any fault must not be sent. */
  readonly errors: readonly MessageError[];
  /** State of the conversation after this message. */
  readonly conversation: Conversation;
}

/**
 * Builds the message of one send. Renders the text for the recipient, appends signature and opt-out footer, tags and
 * tracks links, and adds the threading headers.
 *
 * There is an HTML part if the step has HTML, or if opens or clicks are tracked. With `textOnly` the message has no
 * HTML part, and tracking is off. Without a plain text in the step, the plain part is derived from the HTML. Faults in
 * the author's texts are returned in `errors`.
 * @throws {TypeError} when the sender's address has no domain or `oneClickUrl` is not a URL
 */
export function buildMessage(input: MessageInput): BuiltMessage {
  const { campaign, sender } = input;
  const rendered = renderStep(input);
  const errors = [...rendered.errors];
  const fromAddress = checkAddress(sender.sendAs || sender.email, errors);
  const messageId = messageIdFor(input.sendId, fromAddress);
  const { subject, inReplyTo, references, conversation } = threadMessage({
    threadReply: input.step.threadReply,
    subject: rendered.subject,
    messageId,
    conversation: input.conversation,
  });
  if (subject === '' || subject === 'Re:') errors.push({ field: 'subject', message: message('template.no_subject') });
  const { text, html, links } = assembleParts(input, rendered, hasHtml(campaign, rendered));
  const address = (value: string): MailAddress => ({ name: '', address: checkAddress(value, errors) });
  const options: MessageOptions = {
    from: { name: headerText(sender.name ?? ''), address: fromAddress },
    to: address(input.contact.email),
    ...(campaign.cc?.length ? { cc: campaign.cc.map(address) } : {}),
    ...(campaign.bcc?.length ? { bcc: campaign.bcc.map(address) } : {}),
    ...(sender.replyTo ? { replyTo: address(sender.replyTo) } : {}),
    subject,
    text,
    ...(html === undefined ? {} : { html }),
    messageId,
    ...(inReplyTo === undefined ? {} : { inReplyTo, references }),
    ...(campaign.unsubscribeHeader ? { headers: oneClickHeaders(input.urls.oneClickUrl) } : {}),
    ...(input.attachments?.length ? { attachments: attachedParts(input.attachments) } : {}),
    // The text is untrusted: it must not make nodemailer read a file or a URL.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  return { options, links, unresolved: rendered.unresolved, errors, conversation };
}

/** Returns files in nodemailer's form. */
export function attachedParts(files: readonly MessageFile[]): NonNullable<SendMailOptions['attachments']> {
  return files.map(({ filename, content_type: contentType, content }) => ({
    filename,
    contentType,
    content,
    contentDisposition: 'attachment',
  }));
}

/**
 * Returns the bodies of a message as members of the workspace see them: without pixel and opt-out link, and with the
 * original links.
 */
export function buildUntracked(input: MessageInput): { text: string; html: string | null } {
  const rendered = renderStep(input);
  const campaign = { ...input.campaign, openTracking: false, linkTracking: false };
  const urls = { ...input.urls, unsubscribeUrl: '' };
  const { text, html } = assembleParts({ ...input, campaign, urls }, rendered, hasHtml(input.campaign, rendered));
  return { text, html: html ?? null };
}

function hasHtml({ textOnly, openTracking, linkTracking }: MessageCampaign, { html }: RenderedStep): boolean {
  return !textOnly && (html !== undefined || openTracking || linkTracking);
}

interface RenderedStep {
  readonly subject: string;
  readonly plain: string | undefined;
  readonly html: string | undefined;
  readonly unresolved: readonly string[];
  readonly errors: readonly MessageError[];
}

function renderStep({ sendId, contact, app, step }: MessageInput): RenderedStep {
  const values = mergeValues(contact, app);
  const fields: RenderedField[] = [];
  const render = (field: MessageField): string | undefined => {
    const source = step[field];
    if (!source?.trim()) return undefined;
    const result = renderField(field, source, values, spintaxSeed(sendId, field));
    fields.push(result);
    return result.text;
  };
  const subject = render('subject') ?? '';
  const plain = render('body_plain');
  const html = render('body_html');
  const errors = fields.flatMap((field) => field.errors);
  if (plain === undefined && html === undefined) {
    errors.push({ field: 'body_plain', message: message('template.no_text') });
  }
  return { subject, plain, html, unresolved: [...new Set(fields.flatMap((field) => field.unresolved))], errors };
}

/** Returns the plain and HTML body with signature, footer, pixel and rewritten links. */
function assembleParts(
  { sender, campaign, unsubscribe, urls, ticketId }: MessageInput,
  rendered: RenderedStep,
  sendsHtml: boolean,
): { text: string; html: string | undefined; links: readonly TrackedLink[] } {
  const trackOpens = campaign.openTracking && !campaign.textOnly;
  const trackLinks = campaign.linkTracking && !campaign.textOnly;
  const footer = buildFooter(unsubscribe, urls.unsubscribeUrl);
  const { rewriteHtml, rewriteText, toText, links } = createLinkRewriter({
    ...(campaign.utm ? { utm: resolveUtm(campaign.utm, campaign.name) } : {}),
    ...(trackLinks ? { tracking: { base: urls.trackingBase, ticketId } } : {}),
  });

  const written = [
    { plain: rendered.plain, html: rendered.html },
    { plain: sender.signaturePlain?.trim() || undefined, html: sender.signatureHtml?.trim() || undefined },
  ];
  // Rewrites the links of the HTML before converting it to text, because words may directly follow a URL in plain text.
  const [body = '', signature = ''] = written.map(({ plain, html }) =>
    sendsHtml || plain === undefined ? rewriteHtml(html ?? plainToHtml(plain ?? '')) : '',
  );
  const texts = written.map(({ plain }, index) =>
    plain === undefined ? toText(index === 0 ? body : signature) : rewriteText(plain.trimEnd()),
  );
  // Signature, footer and pixel are added after links are rewritten, so that the opt-out link is not rewritten.
  const endings = [signature, footer.html, trackOpens ? trackingPixel(urls.pixelUrl) : ''].filter(
    (part) => part !== '',
  );
  const html = sendsHtml ? appendToBody(body, endings.map((part) => `\n${part}`).join('')) : undefined;
  return { text: joinBlocks(...texts, footer.text), html, links };
}

function joinBlocks(...blocks: readonly string[]): string {
  return blocks.filter((block) => block !== '').join('\n\n');
}

/** Returns the headers of RFC 8058. The URL is one unfolded token, because some clients do not unfold it. */
function oneClickHeaders(oneClickUrl: string): NonNullable<SendMailOptions['headers']> {
  return {
    'List-Unsubscribe': { prepared: true, value: `<${new URL(oneClickUrl).href}>` },
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  };
}

/**
 * Checks that a text is exactly one address without a display name. Adds an error otherwise. Returns the text in a form
 * that is safe for a header line.
 */
export function checkAddress(address: string, errors: MessageError[]): string {
  const bare = address.trim();
  if (!/^[^\s\p{Cc}@<>()[\]\\,;:"]+@[^\s\p{Cc}@<>()[\]\\,;:"]+$/u.test(bare)) {
    errors.push({ field: 'address', message: message('template.not_an_address', { address: bare.slice(0, 320) }) });
  }
  return headerText(bare);
}
