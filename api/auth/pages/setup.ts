import { z } from 'zod';
import { claimSetupWithKey, isClaimed, isSetupLink } from '../../../domain/auth/setup.ts';
import type { AppError } from '../../../lib/errors.ts';
import type { Config } from '../../../lib/config/index.ts';
import type { StreamReply } from '../../http/route.ts';
import { sentForm, shownPage } from '../../oauth/pages/declare.ts';
import { html, type Html } from '../../oauth/pages/html.ts';
import { dashboardPage } from '../../system/dashboard.ts';
import { messagePage, page } from '../../oauth/pages/layout.ts';
import { APPS_PATH, SIGN_IN_PATH } from '../../oauth/pages/return-to.ts';
import { AUTOFOCUS, enter, hiddenFields, problem } from '../../oauth/pages/sign-in.ts';
import type { Visit } from '../../oauth/pages/visit.ts';
import { addressIn, nameField, orAgain, passwordField, refusedForm, splitName, tokenParams } from './fields.ts';

const SETUP_PATH = '/setup';

/** The first page of an installation, and the one its setup link leads to. */
export const setupRoutes = [
  shownPage({
    operationId: 'pages.home',
    path: '/',
    summary: 'The dashboard, or what answers here before it is set up',
    show: async (visit) =>
      (await isClaimed(visit.ctx)) ? (dashboardPage(visit.ctx.config) ?? homePage()) : unclaimedPage(),
  }),
  shownPage({
    operationId: 'pages.setup',
    path: `${SETUP_PATH}/:token`,
    params: tokenParams,
    summary: 'The form that claims a fresh installation',
    errors: ['setup_token_invalid', 'setup_already_complete'],
    show: async (visit, _query, token) => {
      if (await isSetupLink(visit.ctx, token)) return formPage(visit, token, EMPTY);
      return (await isClaimed(visit.ctx)) ? claimedPage() : badLinkPage();
    },
  }),
  sentForm({
    operationId: 'pages.claimSetup',
    path: `${SETUP_PATH}/:token`,
    params: tokenParams,
    summary: 'Claims a fresh installation, and shows its first API key once',
    description: 'Does what POST /v1/auth/setup does, and makes an API key with every permission.',
    fields: {
      name: z.string().default(''),
      email: z.string().default(''),
      password: z.string().default(''),
      organization: z.string().default(''),
    },
    errors: ['setup_token_invalid', 'setup_already_complete'],
    back: (token) => `${SETUP_PATH}/${encodeURIComponent(token)}`,
    act: async (visit, fields, token) =>
      orAgain(
        (refused) =>
          refused.code === 'setup_already_complete' ? claimedPage() : formPage(visit, token, fields, refused),
        async () => {
          const organization = fields.organization.trim();
          if (organization === '' || organization.length > 200)
            throw refusedForm([
              { path: 'body.organization', message: 'The workspace needs a name of at most 200 characters' },
            ]);
          const email = addressIn(fields.email);
          const { session, apiKey } = await claimSetupWithKey(visit.ctx, {
            token,
            email,
            password: fields.password,
            ...splitName(fields.name),
            organization,
          });
          await enter(visit, session);
          return welcomePage(visit.ctx.config, organization, apiKey.secret);
        },
      ),
  }),
];

interface Fields {
  name: string;
  email: string;
  organization: string;
}

const EMPTY: Fields = { name: '', email: '', organization: '' };

function formPage(visit: Visit, token: string, fields: Fields, refused?: AppError): StreamReply {
  return page({
    title: 'Set up Heron',
    status: refused?.status ?? 200,
    body: html`<h1>Set up Heron</h1>
<p class="soft">This installation has no account yet. You become its administrator, and the owner of its first workspace.</p>
${problem(refused)}<form method="post" action="${SETUP_PATH}/${encodeURIComponent(token)}">${hiddenFields(visit, '')}
${nameField(fields.name, AUTOFOCUS)}
<label class="field">Email address<input class="text" type="email" name="email" value="${fields.email}" autocomplete="username" required maxlength="254"></label>
${passwordField()}
<label class="field">Workspace<input class="text" name="organization" value="${fields.organization}" autocomplete="organization" required maxlength="200" placeholder="Your company or team"></label>
<button class="main wide">Set up</button></form>`,
  });
}

/** The API key stands here and nowhere else: only its hash is stored. */
function welcomePage(config: Config, organization: string, key: string): StreamReply {
  const api = config.API_PUBLIC_URL;
  return page({
    title: 'Heron is yours',
    wide: true,
    body: html`<h1>${organization} is ready</h1>
<p class="soft">You are signed in here, as the administrator of this installation.</p>
<p><a class="button main" href="/">Open the dashboard</a></p>
<h2 class="part">Your API key</h2>
<p class="key"><code>${key}</code></p>
<div class="note warn"><p>It is shown this once and may do everything in this workspace. Keep it like a password; keys that may do less are made in the dashboard, under Agents.</p></div>
<h2 class="part">Where everything runs</h2>
${places(config)}
<h2 class="part">Next</h2>
<ol class="next"><li>See that the key works, and every part behind the API:
${command(`export HERON_URL=${api} HERON_API_KEY=${key}\ncurl "$HERON_URL/v1/system/readiness" -H "Authorization: Bearer $HERON_API_KEY"`)}</li>
<li>Start mail servers to try things with, in a second terminal; they show every letter on a page and send nothing to anybody:
${command('npm run mailbox')}</li>
<li>Run a first campaign, from a mailbox to a reply:
${command('npx tsx examples/first-campaign.ts')}</li></ol>
<p class="soft">docs/first-campaign.md takes the same way step by step, with curl and in TypeScript. Every endpoint is in the <a href="/docs">API reference</a>.</p>`,
  });
}

function places(config: Config): Html {
  const rows: [string, string][] = [
    ['API', config.API_PUBLIC_URL],
    ['API reference', `${config.API_PUBLIC_URL}/docs`],
    ['Tracking', config.TRACKING_DOMAIN],
    ['Temporal', config.TEMPORAL_UI_URL ?? config.TEMPORAL_ADDRESS],
    ['Authorized apps', `${config.APP_URL}${APPS_PATH}`],
  ];
  return html`<dl class="places">${rows.map(([name, place]) => html`<dt>${name}</dt><dd>${place.startsWith('http') ? html`<a href="${place}">${place}</a>` : html`<code>${place}</code>`}</dd>`)}</dl>`;
}

function command(text: string): Html {
  return html`<pre><code>${text}</code></pre>`;
}

function homePage(): StreamReply {
  return page({
    title: 'Heron',
    body: html`<h1>Heron</h1><p>This is the API of a Heron installation. Its dashboard was not built (<code>npm run build</code> does that); programs use it with an API key.</p>
<dl class="places"><dt>API reference</dt><dd><a href="/docs">/docs</a></dd><dt>OpenAPI document</dt><dd><a href="/openapi.json">/openapi.json</a></dd><dt>Your authorized apps</dt><dd><a href="${APPS_PATH}">${APPS_PATH}</a></dd></dl>`,
  });
}

function unclaimedPage(): StreamReply {
  return page({
    title: 'Heron is up',
    body: html`<h1>Heron is up</h1><p>This installation has no account yet. Open the <strong>setup link</strong>: the API printed it when it started, in the terminal of <code>npm start</code> or in its log. It is good for one day; a restart prints a new one.</p>
<p class="soft">Meanwhile there is the <a href="/docs">API reference</a>.</p>`,
  });
}

function badLinkPage(): StreamReply {
  return messagePage(
    401,
    'This setup link does not work',
    html`<p>It is incomplete or older than a day. Restart the API: it prints a new link.</p>`,
  );
}

function claimedPage(): StreamReply {
  return messagePage(
    403,
    'This installation has an owner',
    html`<p>The setup link has been used already. If that was you, <a href="${SIGN_IN_PATH}">sign in</a>; for another API key, run <code>npm run heron -- bootstrap</code> on the machine.</p>`,
  );
}
