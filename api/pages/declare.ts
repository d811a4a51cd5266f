import { z } from 'zod';
import type { Ctx } from '../../domain/platform/kernel/context.ts';
import type { ErrorCode } from '../../lib/errors.ts';
import { asAppError } from '../http/errors.ts';
import { route, type AnyRoute, type OtherAnswer, type StreamReply } from '../http/route.ts';
import { textsFor, type PageTexts } from './texts.ts';
import { html } from '../http/html.ts';
import { messagePage } from './layout.ts';
import { returnTo } from './return-to.ts';
import { assertOwnForm, readVisit, type Visit } from './visit.ts';

/** Maximum size (bytes) of a form: a few short fields and the authorization request it continues. */
const FORM_BYTES = 32 * 1024;

/** Fields of every form of the pages. */
const formFields = {
  csrf: z.string().default('').meta({ description: 'CSRF token that the page of the form issued to this browser' }),
  request: z
    .string()
    .default('')
    .meta({ description: 'Query of the authorization request to return to; empty for the authorized apps' }),
};

type FormBody<S extends z.ZodRawShape> = z.output<ReturnType<typeof form<S>>>;

/** Returns the body schema of a form. Each checkbox is sent as a separate field. */
function form<S extends z.ZodRawShape>(fields: S) {
  return z.looseObject({ ...formFields, ...fields });
}

interface Declaration {
  operationId: string;
  path: string;
  /** Parameters of a path with `:token`, the secret part of a mailed link. */
  params?: z.ZodType;
  summary: string;
  description?: string;
  errors?: readonly ErrorCode[];
}

const browsers = { atRoot: true, area: 'pages', scope: 'public', permission: null, organization: false } as const;
const success = { status: 200, body: 'stream', contentType: 'text/html' } as const;

const inWords = { description: 'Error page', contentType: 'text/html' };
/** Other responses that every page may have: a redirect or an error page. */
const otherAnswers: Record<number, OtherAnswer> = {
  303: { description: 'Redirect to the next page or back to the application' },
  ...Object.fromEntries([400, 401, 403, 404, 409, 429, 500].map((status) => [status, inWords])),
};

/**
 * Declares a page, or an image in one: a GET without side effects. The query is only documented; the page itself checks
 * the query and shows problems as text.
 */
export function shownPage<Q extends z.ZodObject = z.ZodObject<Record<string, never>>>(
  spec: Declaration & {
    query?: Q;
    contentType?: string;
    show: (visit: Visit, query: z.output<Q>, token: string) => Promise<StreamReply>;
  },
): AnyRoute {
  const { show, contentType = success.contentType, ...declaration } = spec;
  return route({
    ...browsers,
    ...declaration,
    method: 'get',
    success: { ...success, contentType },
    otherAnswers,
    handler: (ctx, { headers, query, params }) => respond(ctx, headers, (visit) => show(visit, query, tokenIn(params))),
  });
}

/**
 * Declares the route that a form is sent to. Refuses forms that were not sent from Heron's own page in this browser.
 */
export function sentForm<S extends z.ZodRawShape>(
  spec: Declaration & {
    fields: S;
    act: (visit: Visit, body: FormBody<S>, token: string) => Promise<StreamReply>;
    /** Target of the link on an error page. Defaults to the request contained in the form. */
    back?: (token: string) => string;
  },
): AnyRoute {
  const { act, fields, back, ...declaration } = spec;
  return route({
    ...browsers,
    ...declaration,
    method: 'post',
    consumes: 'form',
    bodyLimit: FORM_BYTES,
    body: form(fields),
    success,
    otherAnswers,
    errors: ['forbidden', ...(spec.errors ?? [])],
    handler: (ctx, { headers, body, params }) =>
      respond(ctx, headers, async (visit) => {
        const { csrf, request } = body as z.output<ReturnType<typeof form>>;
        assertOwnForm(visit, headers, csrf);
        const token = tokenIn(params);
        return act(visit, body as FormBody<S>, token).catch((error: unknown) =>
          refusal(visit.ctx, visit.text, error, back?.(token) ?? returnTo(request)),
        );
      }),
  });
}

function tokenIn(params: unknown): string {
  return (params as { token?: string } | undefined)?.token ?? '';
}

async function respond(
  ctx: Ctx,
  headers: Record<string, string | undefined>,
  work: (visit: Visit) => Promise<StreamReply>,
): Promise<StreamReply> {
  const text = textsFor(headers['accept-language']);
  try {
    const visit = await readVisit(ctx, headers);
    const reply = await work(visit).catch((error: unknown) => refusal(ctx, text, error));
    return { ...reply, cookies: visit.cookies };
  } catch (error) {
    return refusal(ctx, text, error);
  }
}

/**
 * Renders an error as a page. Internal errors are logged here, because they do not pass through the error envelope.
 */
function refusal(ctx: Ctx, text: PageTexts, thrown: unknown, back?: string): StreamReply {
  const error = asAppError(thrown);
  if (error.status >= 500) ctx.log.error({ err: error, cause: error.cause, requestId: ctx.requestId }, 'page failed');
  const { failed, tooMany, other, again, request } = text.refused;
  const title = error.status >= 500 ? failed : error.status === 429 ? tooMany : other;
  return messagePage(
    text,
    error.status,
    title,
    html`<div class="note bad" role="alert"><p>${text.plainly(error.said)}.</p>
${error.fix ? html`<p>${text.plainly(error.fix)}</p>` : null}</div>
${back === undefined ? null : html`<p><a href="${back}">${again}</a></p>`}<p class="soft">${request} <code>${ctx.requestId}</code></p>`,
    error.headers,
  );
}
