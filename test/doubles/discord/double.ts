/**
 * Stub of Discord: channel webhooks, whose URL is the secret. From discord.com/developers/docs: webhook resource,
 * allowed mentions, rate limits, errors.
 */
import { randomBytes } from 'node:crypto';
import { Answer, jsonOf, startDouble, type Double, type Heard } from '../server.ts';

interface DiscordDouble extends Double {
  webhook: { id: string; token: string };
  messages: { content: string; embeds: any[]; pings: string[] }[];
  /** Deletes the webhook, like a person in the settings of the channel. */
  remove(): void;
}

/** Starts the stub of Discord with one webhook. */
export async function startDiscord(port?: number): Promise<DiscordDouble> {
  const webhook = { id: '1200000000000000001', token: randomBytes(51).toString('base64url') };
  const messages: DiscordDouble['messages'] = [];
  let isThere = true;
  const find = ({ params }: Heard): void => {
    if (!isThere || params.id !== webhook.id) throw new Answer(404, { message: 'Unknown Webhook', code: 10_015 });
    if (params.token !== webhook.token) throw new Answer(401, { message: 'Invalid Webhook Token', code: 50_027 });
  };
  const post = (heard: Heard) => {
    find(heard);
    const body = jsonOf(
      heard,
      () => new Answer(400, { message: 'The request body contains invalid JSON.', code: 50_109 }),
    );
    const { content = '', embeds = [] } = body;
    if (content === '' && embeds.length === 0)
      throw new Answer(400, { message: 'Cannot send an empty message', code: 50_006 });
    if (content.length > 2_000) throw tooLong('content', 2_000);
    if (embeds.length > 10) throw tooLong('embeds', 10);
    for (const embed of embeds) {
      if ((embed.title ?? '').length > 256) throw tooLong('embeds.title', 256);
      if ((embed.description ?? '').length > 4_096) throw tooLong('embeds.description', 4_096);
    }
    messages.push({ content, embeds, pings: pingsOf(content, body.allowed_mentions) });
    if (heard.query.get('wait') !== 'true') return new Answer(204);
    return {
      id: String(1_200_000_000_000_000_000n + BigInt(messages.length)),
      type: 0,
      content,
      channel_id: '1',
      embeds,
    };
  };

  const double = await startDouble(
    {
      rate: { requests: 5, perMs: 2_000 },
      limited: (seconds) =>
        new Answer(
          429,
          { message: 'You are being rate limited.', retry_after: seconds, global: false },
          {
            'retry-after': String(seconds),
            'x-ratelimit-limit': '5',
            'x-ratelimit-remaining': '0',
            'x-ratelimit-reset-after': `${seconds}.0`,
            'x-ratelimit-scope': 'shared',
          },
        ),
      broken: () => new Answer(503, { message: 'Service resource is being rate limited.', code: 0 }),
      unknown: () => new Answer(404, { message: '404: Not Found', code: 0 }),
      routes: Object.fromEntries(
        // The URL that people copy has no API version, but the URLs that programs call have one.
        ['/api', '/api/v10'].flatMap((base) => [
          [
            `GET ${base}/webhooks/:id/:token`,
            (heard: Heard) => {
              find(heard);
              return {
                ...webhook,
                type: 1,
                name: 'Heron',
                channel_id: '1',
                guild_id: '2',
                application_id: null,
                avatar: null,
              };
            },
          ],
          [`POST ${base}/webhooks/:id/:token`, post],
        ]),
      ),
    },
    port,
  );
  return Object.assign(double, { webhook, messages, remove: () => void (isThere = false) });
}

function tooLong(field: string, length: number): Answer {
  const message = `Must be ${length} or fewer in length.`;
  return new Answer(400, {
    message: 'Invalid Form Body',
    code: 50_035,
    errors: { [field]: { _errors: [{ code: 'BASE_TYPE_MAX_LENGTH', message }] } },
  });
}

/**
 * Returns the mentions in a message that would notify somebody and that `allowed_mentions` permits. Without this field
 * all mentions in the text notify.
 */
function pingsOf(content: string, allowed?: { parse?: string[] }): string[] {
  const found: [string, RegExp][] = [
    ['everyone', /@(everyone|here)/g],
    ['users', /<@!?\d+>/g],
    ['roles', /<@&\d+>/g],
  ];
  return found
    .filter(([kind]) => !allowed || allowed.parse?.includes(kind))
    .flatMap(([, pattern]) => [...content.matchAll(pattern)].map(([text]) => text));
}
