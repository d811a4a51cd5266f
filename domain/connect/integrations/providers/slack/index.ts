import { z } from 'zod';
import {
  ReauthRequired,
  Refused,
  Unavailable,
  type Provider,
  type ProviderCall,
  type ProviderRequest,
} from '../provider.ts';
import { noticeMessage, noticeText } from '../notice.ts';
import { unlink } from '../texts.ts';
import { message, type Message } from '../../../../../messages/index.ts';

const notifyConfig = z.strictObject({
  channel: z.string().trim().min(1).max(100).describe('Name (#sales) or id (C0123456789) of a channel.'),
  message: noticeMessage,
});

/** Slack's error codes for a token that is no longer valid. */
const REAUTH = new Set(['invalid_auth', 'account_inactive', 'token_revoked', 'not_authed', 'org_login_required']);
/** Slack's error codes after which another attempt may succeed. */
const PASSING = new Set(['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout', 'token_expired']);

/** Slack, connected by its OAuth, through the Web API. */
export const slack: Provider = {
  id: 'slack',
  name: 'Slack',
  tagline: 'provider.slack.tagline',
  category: 'notifications',
  docsUrl: 'https://docs.slack.dev/apis/web-api/',
  authMethod: 'oauth',
  badgeColor: '#4a154b',
  highlights: ['provider.highlight.message_each', 'provider.highlight.own_texts'],
  events: ['email.replied', 'meeting.booked', 'deal.won'],
  apiBase: 'https://slack.com/api',
  // Slack allows one message per second and channel, with short bursts.
  rate: { capacity: 3, perSecond: 1 },
  isTokenRefused: ({ json }) => z.object({ error: z.literal('token_expired') }).safeParse(json).success,
  oauth: {
    authorizeUrl: 'https://slack.com/oauth/v2/authorize',
    tokenUrl: 'https://slack.com/api/oauth.v2.access',
    pkce: false,
    scopes: ['chat:write', 'chat:write.public', 'channels:read'],
    scopeSeparator: ',',
    clientSettings: ['SLACK_CLIENT_ID', 'SLACK_CLIENT_SECRET'],
    async readAccount(_call, tokens) {
      const { team } = z.object({ team: z.object({ id: z.string(), name: z.string() }) }).parse(tokens);
      return team;
    },
    async revoke(call) {
      await ask(call, { method: 'POST', path: '/auth.revoke', form: {} });
    },
  },
  async check(call) {
    await ask(call, { method: 'POST', path: '/auth.test', form: {} });
  },
  actions: {
    notify: {
      summary: 'Post a message to a channel',
      config: notifyConfig,
      isNotice: true,
      async perform(call, input) {
        const { channel } = notifyConfig.parse(input.config);
        await ask(call, {
          method: 'POST',
          path: '/chat.postMessage',
          json: {
            channel,
            text: noticeText(input, escapeForSlack),
            // Prevents names in the text from notifying people, and URLs from getting a preview.
            parse: 'none',
            link_names: false,
            unfurl_links: false,
            unfurl_media: false,
          },
        });
      },
    },
  },
};

/**
 * Escapes a stranger's text for Slack's mrkdwn. Mentions and links need `<`; text that looks like a URL is broken up.
 */
function escapeForSlack(value: string): string {
  return unlink(value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'));
}

/** Sends a request. Slack reports almost every refusal with status 200 and `ok: false`. */
async function ask(call: ProviderCall, request: ProviderRequest): Promise<void> {
  const { json } = await call.request(request);
  const answer = z.object({ ok: z.boolean(), error: z.string().default('unknown_error') }).safeParse(json);
  if (!answer.success) throw new Unavailable(message('connect.provider_unreadable', { provider: 'Slack' }));
  const { ok, error } = answer.data;
  if (ok) return;
  const answered = message('connect.provider_code', { provider: 'Slack', code: error });
  if (REAUTH.has(error)) throw new ReauthRequired(answered);
  if (PASSING.has(error)) throw new Unavailable(answered);
  throw new Refused(PROBLEMS[error] ?? answered);
}

const PROBLEMS: Record<string, Message | undefined> = {
  channel_not_found: message('connect.slack_no_channel'),
  not_in_channel: message('connect.slack_not_in_channel'),
  is_archived: message('connect.slack_archived'),
  msg_too_long: message('connect.slack_too_long'),
  missing_scope: message('connect.slack_scope'),
};
