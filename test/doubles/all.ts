import {
  startCalCom,
  startCalendly,
  startClose,
  startDiscord,
  startGoogleSheets,
  startHubSpot,
  startMake,
  startN8n,
  startPipedrive,
  startSalesforce,
  startSlack,
  startZapier,
} from './index.ts';

const STARTS = {
  hubspot: startHubSpot,
  salesforce: startSalesforce,
  pipedrive: startPipedrive,
  close: startClose,
  zapier: startZapier,
  make: startMake,
  n8n: startN8n,
  slack: startSlack,
  discord: startDiscord,
  calendly: startCalendly,
  cal_com: startCalCom,
  google_sheets: startGoogleSheets,
};

/** Stubs of all providers, by the provider's id. */
export type Doubles = { [id in keyof typeof STARTS]: Awaited<ReturnType<(typeof STARTS)[id]>> };

/**
 * Paths of each provider's API, authorization and tokens below the stub's origin. Two providers return the API's URL
 * with the tokens instead.
 */
const PATHS: { [id in keyof Doubles]?: Partial<Record<'api' | 'authorize' | 'token' | 'revoke', string>> } = {
  hubspot: { api: '', authorize: '/oauth/authorize', token: '/oauth/v1/token' },
  salesforce: {
    authorize: '/services/oauth2/authorize',
    token: '/services/oauth2/token',
    revoke: '/services/oauth2/revoke',
  },
  pipedrive: { authorize: '/oauth/authorize', token: '/oauth/token', revoke: '/oauth/revoke' },
  close: { api: '/api/v1' },
  zapier: { api: '' },
  slack: { api: '/api', authorize: '/oauth/v2/authorize', token: '/api/oauth.v2.access' },
  discord: { api: '/api/v10' },
  calendly: { api: '' },
  cal_com: { api: '' },
  google_sheets: { api: '', authorize: '/o/oauth2/v2/auth', token: '/token', revoke: '/revoke' },
};

/** Starts a stub of every provider, or of the named ones. */
export async function startDoubles(
  ids: readonly (keyof Doubles)[] = Object.keys(STARTS) as (keyof Doubles)[],
): Promise<Doubles & { env: Record<string, string>; closeAll(): Promise<void> }> {
  const started = await Promise.all(ids.map(async (id) => [id, await STARTS[id]()] as const));
  const doubles = Object.fromEntries(started) as Doubles;
  return Object.assign(doubles, {
    env: doublesEnv(doubles),
    closeAll: async () => {
      await Promise.all(started.map(([, double]) => double.close()));
    },
  });
}

/** Returns the settings that replace the providers by the stubs. */
function doublesEnv(doubles: Partial<Doubles>): Record<string, string> {
  const endpoints: Record<string, Record<string, string>> = {};
  const env: Record<string, string> = { ALLOW_UNSAFE_WEBHOOK_URLS: 'true' };
  for (const [id, double] of Object.entries(doubles)) {
    const paths = Object.entries(PATHS[id as keyof Doubles] ?? {});
    if (paths.length > 0) endpoints[id] = Object.fromEntries(paths.map(([name, path]) => [name, double.url + path]));
    if (!('oauth' in double)) continue;
    env[`${id.toUpperCase()}_CLIENT_ID`] = double.oauth.clientId;
    env[`${id.toUpperCase()}_CLIENT_SECRET`] = double.oauth.clientSecret;
  }
  return { ...env, INTEGRATION_ENDPOINTS: JSON.stringify(endpoints) };
}
