/**
 * Stub of Slack: OAuth v2 with token rotation, chat.postMessage, conversations.list, auth.test and auth.revoke. Slack
 * answers almost every refusal with status 200 and `ok: false`. From docs.slack.dev: installing with OAuth, token
 * rotation, Web API methods, rate limits, formatting text.
 */
import { bearerOf, createOAuth, type OAuthServer } from '../oauth.ts';
import { Answer, formOf, jsonOf, startDouble, type Double, type Heard } from '../server.ts';

interface SlackDouble extends Double {
  oauth: OAuthServer;
  channels: { id: string; name: string; is_archived: boolean }[];
  messages: { channel: string; text: string; blocks?: unknown[] }[];
  /** Returns the mentions and links that a message's text creates for people: `@here`, `<https://…>`. */
  effects(text: string): string[];
}

/** Starts the stub of Slack. */
export async function startSlack(port?: number): Promise<SlackDouble> {
  const channels = [
    { id: 'C0000000001', name: 'general', is_archived: false },
    { id: 'C0000000002', name: 'sales', is_archived: false },
    { id: 'C0000000003', name: 'old', is_archived: true },
  ];
  const messages: SlackDouble['messages'] = [];
  const oauth = createOAuth({
    authorizePath: '/oauth/v2/authorize',
    tokenPath: '/api/oauth.v2.access',
    clientAuth: 'body',
    pkce: 'ignored',
    rotates: true,
    scopes: ['chat:write', 'chat:write.public', 'channels:read'],
    scopeSeparator: ',',
    refusal: (error) =>
      no(
        { invalid_client: 'bad_client_secret', invalid_grant: 'invalid_refresh_token' }[error as string] ??
          'invalid_arguments',
      ),
    prefix: 'xoxe.xoxb-',
    tokens: (grant, { access, refresh, expiresIn }) => ({
      ok: true,
      app_id: 'A0000000001',
      authed_user: { id: 'U0000000001' },
      scope: grant.scopes.join(','),
      token_type: 'bot',
      access_token: access,
      refresh_token: refresh,
      expires_in: expiresIn,
      bot_user_id: 'U0000000009',
      team: { id: 'T0000000001', name: grant.account },
      enterprise: null,
      is_enterprise_install: false,
    }),
  });

  const post = (heard: Heard) => {
    const body = argumentsOf(heard);
    const grant = oauth.whose(bearerOf(heard)) as { scopes: readonly string[] };
    if (!grant.scopes.includes('chat:write'))
      throw no('missing_scope', { needed: 'chat:write', provided: grant.scopes.join(',') });
    const channel = channels.find(({ id, name }) => [id, name, `#${name}`].includes(body.channel));
    if (!channel) throw no('channel_not_found');
    if (channel.is_archived) throw no('is_archived');
    if (!body.text && !body.blocks) throw no('no_text');
    if (String(body.text ?? '').length > 40_000) throw no('msg_too_long');
    messages.push({ channel: channel.name, text: body.text, ...(body.blocks ? { blocks: body.blocks } : {}) });
    return {
      ok: true,
      channel: channel.id,
      ts: `${Date.now() / 1_000}`,
      message: { type: 'message', text: body.text },
    };
  };

  const double = await startDouble(
    {
      // The limit is one message per second and channel, but short bursts are allowed.
      rate: { requests: 10, perMs: 1_000 },
      limited: (seconds) => new Answer(429, { ok: false, error: 'ratelimited' }, { 'retry-after': String(seconds) }),
      broken: () => new Answer(503, { ok: false, error: 'service_unavailable' }),
      unknown: () => no('unknown_method'),
      admit: (heard) => {
        const token = bearerOf(heard);
        if (token === undefined) throw no('not_authed');
        const whose = oauth.whose(token);
        if (whose === 'expired') throw no('token_expired');
        if (whose === 'unknown') throw no('token_revoked');
      },
      open: oauth.open,
      routes: {
        ...oauth.routes,
        'POST /api/auth.test': (heard) => ({
          ok: true,
          url: 'https://acme.slack.com/',
          team: (oauth.whose(bearerOf(heard)) as { account: string }).account,
          team_id: 'T0000000001',
          user: 'heron',
          user_id: 'U0000000009',
          bot_id: 'B0000000001',
        }),
        'POST /api/auth.revoke': (heard) => ({ ok: true, revoked: oauth.revoke(bearerOf(heard)!) }),
        'GET /api/conversations.list': ({ query }) => {
          const limit = Number(query.get('limit') ?? 100);
          const start = Number(Buffer.from(query.get('cursor') ?? '', 'base64').toString() || 0);
          const next = start + limit < channels.length ? Buffer.from(String(start + limit)).toString('base64') : '';
          return { ok: true, channels: channels.slice(start, start + limit), response_metadata: { next_cursor: next } };
        },
        'POST /api/chat.postMessage': post,
      },
    },
    port,
  );
  return Object.assign(double, { oauth, channels, messages, effects });
}

/**
 * Returns the mentions and links of a text in Slack's mrkdwn: everything between `<` and `>`; escaped characters are
 * plain text.
 */
function effects(text: string): string[] {
  return [...text.matchAll(/<([^>]*)>/g)].map(([whole]) => whole);
}

function no(error: string, more: object = {}): Answer {
  return new Answer(200, { ok: false, error, ...more });
}

function argumentsOf(heard: Heard): any {
  if (heard.headers['content-type']?.startsWith('application/x-www-form-urlencoded'))
    return Object.fromEntries(formOf(heard, () => no('invalid_form_data')));
  return jsonOf(heard, () => no('invalid_json'));
}
