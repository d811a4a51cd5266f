import { z } from 'zod';
import { claimSetupWithKey, isClaimed, isSetupLink } from '../../../../domain/identity/auth/setup.ts';
import type { AppError } from '../../../../lib/errors.ts';
import type { Config } from '../../../../lib/config/index.ts';
import type { StreamReply } from '../../../http/route.ts';
import { sentForm, shownPage } from '../../../pages/declare.ts';
import { html, type Html } from '../../../http/html.ts';
import type { PageTexts } from '../../../pages/texts.ts';
import { dashboardPage } from '../../../pages/dashboard.ts';
import { messagePage, page } from '../../../pages/layout.ts';
import { APPS_PATH, SIGN_IN_PATH } from '../../../pages/return-to.ts';
import { AUTOFOCUS, startBrowserSession, hiddenFields, problem } from '../../../pages/sign-in.ts';
import type { Visit } from '../../../pages/visit.ts';
import {
  addressIn,
  nameField,
  runOrShowAgain,
  passwordField,
  refusedForm,
  splitName,
  tokenParams,
} from '../../../pages/fields.ts';
import { message } from '../../../../messages/index.ts';

const SETUP_PATH = '/setup';
const DOCS_PATH = '/docs';

/** First page of an installation and the page of its setup link. */
export const setupRoutes = [
  shownPage({
    operationId: 'pages.home',
    path: '/',
    summary: 'Dashboard, or the setup notice of a new installation',
    show: async (visit) =>
      (await isClaimed(visit.ctx)) ? (dashboardPage(visit.ctx.config) ?? homePage(visit)) : unclaimedPage(visit),
  }),
  shownPage({
    operationId: 'pages.setup',
    path: `${SETUP_PATH}/:token`,
    params: tokenParams,
    summary: 'Form that sets up a new installation',
    errors: ['setup_token_invalid', 'setup_already_complete'],
    show: async (visit, _query, token) => {
      if (await isSetupLink(visit.ctx, token)) return formPage(visit, token, EMPTY);
      return (await isClaimed(visit.ctx)) ? claimedPage(visit) : badLinkPage(visit);
    },
  }),
  sentForm({
    operationId: 'pages.claimSetup',
    path: `${SETUP_PATH}/:token`,
    params: tokenParams,
    summary: 'Set up a new installation, and show its first API key once',
    description: 'Has the effects of POST /v1/auth/setup, and creates an API key with every permission.',
    fields: {
      name: z.string().default(''),
      email: z.string().default(''),
      password: z.string().default(''),
      organization: z.string().default(''),
    },
    errors: ['setup_token_invalid', 'setup_already_complete'],
    back: (token) => `${SETUP_PATH}/${encodeURIComponent(token)}`,
    act: async (visit, fields, token) =>
      runOrShowAgain(
        (refused) =>
          refused.code === 'setup_already_complete' ? claimedPage(visit) : formPage(visit, token, fields, refused),
        async () => {
          const organization = fields.organization.trim();
          if (organization === '' || organization.length > 200)
            throw refusedForm([{ path: 'body.organization', message: message('page.setup.name_rule') }]);
          const email = addressIn(fields.email);
          const { session, apiKey } = await claimSetupWithKey(visit.ctx, {
            token,
            email,
            password: fields.password,
            ...splitName(fields.name),
            organization,
          });
          await startBrowserSession(visit, session);
          return welcomePage(visit, organization, apiKey.secret);
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
  const { field, setup: words } = visit.text;
  return page(visit.text, {
    title: words.title,
    status: refused?.status ?? 200,
    body: html`<h1>${words.title}</h1>
<p class="soft">${words.lead}</p>
${problem(visit, refused)}<form method="post" action="${SETUP_PATH}/${encodeURIComponent(token)}">${hiddenFields(visit, '')}
${nameField(visit.text, fields.name, AUTOFOCUS)}
<label class="field">${field.email}<input class="text" type="email" name="email" value="${fields.email}" autocomplete="username" required maxlength="254"></label>
${passwordField(visit.text)}
<label class="field">${field.workspace}<input class="text" name="organization" value="${fields.organization}" autocomplete="organization" required maxlength="200" placeholder="${words.company}"></label>
<button class="main wide">${words.button}</button></form>`,
  });
}

/** The API key is shown only here, because only its hash is stored. */
function welcomePage({ ctx: { config }, text }: Visit, organization: string, key: string): StreamReply {
  const api = config.API_PUBLIC_URL;
  const { setup: words } = text;
  return page(text, {
    title: words.yours,
    wide: true,
    body: html`<h1>${words.ready(organization)}</h1>
<p class="soft">${words.signedIn}</p>
<p><a class="button main" href="/">${words.open}</a></p>
<h2 class="part">${words.key}</h2>
<p class="key"><code>${key}</code></p>
<div class="note warn"><p>${words.keyOnce}</p></div>
<h2 class="part">${words.where}</h2>
${places(config, words)}
<h2 class="part">${words.next}</h2>
<ol class="next"><li>${words.tryKey}
${command(`export HERON_URL=${api} HERON_API_KEY=${key}\ncurl "$HERON_URL/v1/system/readiness" -H "Authorization: Bearer $HERON_API_KEY"`)}</li>
<li>${words.tryMail}
${command('npm run mailbox')}</li>
<li>${words.tryCampaign}
${command('node bundle/run.mjs examples/first-campaign.ts')}</li></ol>
<p class="soft">${words.more(DOCS_PATH)}</p>`,
  });
}

function places(config: Config, words: PageTexts['setup']): Html {
  const rows: [string, string][] = [
    ['API', config.API_PUBLIC_URL],
    [words.reference, `${config.API_PUBLIC_URL}/docs`],
    [words.tracking, config.TRACKING_DOMAIN],
    ['Temporal', config.TEMPORAL_UI_URL ?? config.TEMPORAL_ADDRESS],
    [words.apps, `${config.APP_URL}${APPS_PATH}`],
  ];
  return html`<dl class="places">${rows.map(([name, place]) => html`<dt>${name}</dt><dd>${place.startsWith('http') ? html`<a href="${place}">${place}</a>` : html`<code>${place}</code>`}</dd>`)}</dl>`;
}

function command(text: string): Html {
  return html`<pre><code>${text}</code></pre>`;
}

function homePage({ text }: Visit): StreamReply {
  const { setup: words } = text;
  return page(text, {
    title: 'Heron',
    body: html`<h1>Heron</h1><p>${words.notBuilt}</p>
<dl class="places"><dt>${words.reference}</dt><dd><a href="${DOCS_PATH}">${DOCS_PATH}</a></dd><dt>${words.document}</dt><dd><a href="/openapi.json">/openapi.json</a></dd><dt>${words.yourApps}</dt><dd><a href="${APPS_PATH}">${APPS_PATH}</a></dd></dl>`,
  });
}

function unclaimedPage({ text }: Visit): StreamReply {
  const { setup: words } = text;
  return page(text, {
    title: words.up,
    body: html`<h1>${words.up}</h1><p>${words.unclaimed}</p>
<p class="soft">${words.meanwhile(DOCS_PATH)}</p>`,
  });
}

function badLinkPage({ text }: Visit): StreamReply {
  return messagePage(text, 401, text.setup.badLink, html`<p>${text.setup.badLinkWhy}</p>`);
}

function claimedPage({ text }: Visit): StreamReply {
  return messagePage(text, 403, text.setup.claimed, html`<p>${text.setup.claimedWhy(SIGN_IN_PATH)}</p>`);
}
