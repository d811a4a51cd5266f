import { z } from 'zod';
import type { Provider } from '../provider.ts';
import { noticeMessage, noticeText } from '../notice.ts';
import { shorten, unlink } from '../texts.ts';
import { ruleMessage } from '../../../../../lib/issue-message.ts';

const WEBHOOK =
  /^https:\/\/(?:(?:canary|ptb)\.)?discord(?:app)?\.com\/api(?:\/v\d+)?\/webhooks\/(\d{1,20})\/([\w-]{1,200})\/?$/;
const config = z.strictObject({
  webhook_url: z.string().trim().regex(WEBHOOK, ruleMessage('connect.discord_webhook')),
});
const notifyConfig = z.strictObject({ message: noticeMessage });

/** Maximum number of characters of a message. */
const MAX_CONTENT = 2_000;
/** Discord message flag that disables link previews. */
const SUPPRESS_EMBEDS = 4;

/** Discord, connected by the webhook of a channel. */
export const discord: Provider = {
  id: 'discord',
  name: 'Discord',
  tagline: 'provider.discord.tagline',
  category: 'notifications',
  docsUrl: 'https://discord.com/developers/docs/resources/webhook',
  authMethod: 'webhook',
  badgeColor: '#5865f2',
  webhookHint: 'provider.discord.hint',
  highlights: ['provider.highlight.message_each', 'provider.highlight.own_texts'],
  events: ['email.replied', 'meeting.booked', 'deal.won'],
  apiBase: 'https://discord.com/api/v10',
  // Discord allows five messages in two seconds per webhook.
  rate: { capacity: 3, perSecond: 1 },
  credentials: {
    schema: config,
    secretFields: ['webhook_url'],
    async validate(call) {
      const { json } = await call.request({ method: 'GET', path: pathOf(call.config) });
      const {
        id,
        name,
        channel_id: channel,
      } = z.object({ id: z.string(), name: z.string().nullish(), channel_id: z.string() }).parse(json);
      return { id, name: name ?? 'Discord', displayFields: { channel_id: channel } };
    },
  },
  actions: {
    notify: {
      summary: 'Post a message to the channel',
      config: notifyConfig,
      isNotice: true,
      async perform(call, input) {
        await call.request({
          method: 'POST',
          path: pathOf(call.config),
          query: { wait: 'true' },
          json: {
            content: shorten(noticeText(input, escapeForDiscord), MAX_CONTENT),
            // Disables all mentions, regardless of the text.
            allowed_mentions: { parse: [] },
            flags: SUPPRESS_EMBEDS,
          },
        });
      },
    },
  },
};

/** Escapes a stranger's text for Discord's Markdown, so that it contains no mentions and links. */
function escapeForDiscord(value: string): string {
  return unlink(value.replaceAll(/[\\*_~`|>#()[\]<-]/g, String.raw`\$&`).replaceAll('@', '@\u200b'));
}

function pathOf(given: unknown): string {
  const [, id, token] = WEBHOOK.exec(config.parse(given).webhook_url)!;
  return `/webhooks/${id}/${token}`;
}
