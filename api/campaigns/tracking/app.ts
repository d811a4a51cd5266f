import Router from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import { koaBody } from 'koa-body';
import proxyAddr from 'proxy-addr';
import type { Deps } from '../../../domain/platform/kernel/context.ts';
import { mayHaveCertificate } from '../../../domain/campaigns/tracking/certificate.ts';
import { createTicketLookup, type createClickRecorder } from '../../../domain/campaigns/tracking/clicks.ts';
import type { Hit } from '../../../domain/campaigns/tracking/machine.ts';
import { sendOfPixel, type createOpenRecorder } from '../../../domain/campaigns/tracking/opens.ts';
import { findOptOut, optOut } from '../../../domain/campaigns/tracking/opt-out.ts';
import { openCountries } from '../../../lib/countries.ts';
import { discardBody } from '../../../lib/discard-body.ts';
import { newId } from '../../../lib/ids.ts';
import type { Metrics } from '../../../lib/metrics.ts';
import { readMultipart } from '../../../lib/multipart.ts';
import { createRateLimiter } from '../../../lib/rate-limit.ts';
import { withRequestSpan } from '../../../lib/request-span.ts';
import { strictTransport } from '../../../lib/strict-transport.ts';
import { traceIds } from '../../../lib/trace.ts';
import { textsFor, type PageTexts } from '../../pages/texts.ts';
import { showHealth } from '../../http/health.ts';
import { metricsEndpoint } from '../../http/metrics.ts';
import { confirmPage, donePage, PAGE_POLICY, errorPage, unknownPage } from './pages.ts';

/** Transparent GIF of one pixel. */
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
/**
 * Maximum number of hits recorded per minute for one link or pixel. Further hits get the same answer, but are not
 * recorded.
 */
const RECORDED_PER_MINUTE = 60;
const FORM_BYTES = 8 * 1024;

/** Maximum number of names per minute that a proxy may ask about, and of the DNS queries for these names. */
const ASKED_PER_MINUTE = 600;
const QUERIED_PER_MINUTE = 10;

interface TrackingOptions {
  /** Id of the installation. The check of a tracking domain requests it to verify that the domain leads here. */
  instance: string;
  /** Recorders of the process. Their owner closes them after the last request. */
  opens: ReturnType<typeof createOpenRecorder>;
  clicks: ReturnType<typeof createClickRecorder>;
  /** Called after a click is recorded, because an event about it may be due. */
  onClick?: () => void;
}

/** Creates the tracking service: opens, clicks and opt-outs of sent mail (RFC 8058). It needs no credential. */
export function createTrackingApp(deps: Deps, metrics: Metrics, options: TrackingOptions): Koa {
  const router = new Router();
  router.get('tracking.health', '/health', (koa) => {
    showHealth(koa);
    koa.body = { ...(koa.body as object), instance: options.instance };
  });
  certificateRoute(router, deps);
  engagementRoutes(router, deps, options);
  optOutRoutes(router, deps);

  const app = new Koa();
  app.use((koa, next) =>
    withRequestSpan(deps.config, { method: koa.method, traceparent: koa.get('traceparent') }, () => next()),
  );
  app.use(frame(deps, metrics));
  app.use(metricsEndpoint(metrics, deps.config));
  app.use(router.routes());
  app.use((koa) => showPage(koa, 404, unknownPage(textsOf(koa), referenceOf(koa))));
  app.silent = true;
  return app;
}

/**
 * Route that tells a proxy if it may obtain a certificate for a name (Caddy's on-demand TLS). The answer reveals no
 * more than the CNAME record of the name.
 */
function certificateRoute(router: Router, deps: Deps): void {
  const limiter = createRateLimiter(deps.clock);
  router.get('tracking.certificate', '/tls/ask', async (koa) => {
    const { domain } = koa.query;
    koa.body = '';
    const { waitMs } = await limiter.take('asked', ASKED_PER_MINUTE);
    if (waitMs > 0) {
      koa.set('Retry-After', String(Math.ceil(waitMs / 1000)));
      koa.status = 429;
      return;
    }
    const mayQueryDns = async (name: string) => (await limiter.take(`dns/${name}`, QUERIED_PER_MINUTE)).waitMs === 0;
    koa.status = typeof domain === 'string' && (await mayHaveCertificate(deps, domain, mayQueryDns)) ? 200 : 404;
  });
}

/** Routes of opens and clicks. Readers get their image or page even if the hit cannot be recorded. */
function engagementRoutes(router: Router, deps: Deps, { opens, clicks, onClick }: TrackingOptions): void {
  const findTicket = createTicketLookup(deps);
  const limiter = createRateLimiter(deps.clock);
  const countryOf = openCountries(deps.config.GEOIP_DATABASE);
  const { TRUSTED_PROXIES: proxies } = deps.config;
  const trust = proxies.length > 0 ? proxyAddr.compile(proxies) : () => false;
  const hitOf = (koa: Context): Hit => ({ ...requestOf(koa), country: countryOf(proxyAddr(koa.req, trust)) });
  const recorded = async (link: string) => (await limiter.take(link, RECORDED_PER_MINUTE)).waitMs === 0;

  router.get('tracking.open', '/o/:file', async (koa) => {
    const sendId = sendOfPixel(deps, (koa.params.file as string).replace(/\.gif$/, ''));
    if (sendId && (await recorded(sendId))) {
      await opens.record(sendId, hitOf(koa)).catch((error: unknown) => {
        koa.state.log.error({ err: error, sendId }, 'an open was not recorded');
      });
    }
    koa.type = 'image/gif';
    koa.body = PIXEL;
  });

  router.get('tracking.click', '/c/:ticket{/*behind}', async (koa) => {
    const ticket = await findTicket(koa.params.ticket as string, hostsOf(koa));
    if (!ticket) return showPage(koa, 404, unknownPage(textsOf(koa), referenceOf(koa)));
    if (await recorded(ticket.id)) {
      await clicks.record(ticket, hitOf(koa)).catch((error: unknown) => {
        koa.state.log.error({ err: error, ticketId: ticket.id }, 'a click was not recorded');
      });
      onClick?.();
    }
    koa.redirect(ticket.url);
    koa.body = '';
  });
}

/** Routes of the opt-out page of an email's link, its form and the one-click POST. */
function optOutRoutes(router: Router, deps: Deps): void {
  router.get('tracking.unsubscribe-page', '/u/:token{/*behind}', async (koa) => {
    const found = await findOptOut(deps, koa.params.token as string);
    if (!found) return showPage(koa, 404, unknownPage(textsOf(koa), referenceOf(koa)));
    showPage(
      koa,
      200,
      found.done
        ? donePage(textsOf(koa), found.organizationName, found.recipient)
        : confirmPage(textsOf(koa), found.organizationName, found.recipient),
    );
  });

  router.post('tracking.unsubscribe', '/u/:token{/*behind}', parseForm(), async (koa) => {
    const found = await findOptOut(deps, koa.params.token as string);
    if (!found) return showPage(koa, 404, unknownPage(textsOf(koa), referenceOf(koa)));
    const form = (koa.request as { body?: Record<string, unknown> }).body ?? {};
    const isOneClick = Object.entries(form).some(
      ([name, value]) => /^list-unsubscribe$/i.test(name) && /^one-click$/i.test(String(value).trim()),
    );
    await optOut(deps, found, isOneClick ? 'one_click' : 'link', koa.state.requestId);
    showPage(koa, 200, donePage(textsOf(koa), found.organizationName, found.recipient));
  });
}

/** Returns page texts in the language of the recipient's browser. */
function textsOf(koa: Context): PageTexts {
  return textsFor(koa.get('accept-language'));
}

/** Returns the id by which a request can be found in the log and, if traces are recorded, in the collector. */
function referenceOf(koa: Context): string {
  return [koa.state.requestId, traceIds()?.trace_id].filter(Boolean).join(' ');
}

/**
 * Sets the headers of every answer and writes one log line and one metric per request. Paths are not logged because
 * they contain tokens.
 */
function frame(deps: Deps, metrics: Metrics): Middleware {
  const hsts = strictTransport(deps.config.TRACKING_DOMAIN);
  return async (koa, next) => {
    const started = performance.now();
    koa.state.requestId = newId();
    koa.state.log = deps.log.child({ requestId: koa.state.requestId });
    koa.set({
      'Cache-Control': 'no-store, private',
      'X-Request-Id': koa.state.requestId,
      'Content-Security-Policy': PAGE_POLICY,
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      'X-Robots-Tag': 'noindex',
      ...(hsts ? { 'Strict-Transport-Security': hsts } : {}),
    });
    try {
      await next();
    } catch (error) {
      koa.state.log.error({ err: error }, 'request failed');
      koa.set('Retry-After', '5');
      showPage(koa as Context, 503, errorPage(textsOf(koa as Context), referenceOf(koa as Context)));
    }
    const operation = String(koa._matchedRouteName ?? 'none');
    metrics.httpRequests.observe({ operation, status: String(koa.status) }, (performance.now() - started) / 1000);
    koa.state.log.info(
      { operation, method: koa.method, status: koa.status, ms: Math.round(performance.now() - started) },
      'request',
    );
  };
}

/**
 * Parses both form encodings of RFC 8058. A form that cannot be parsed still opts out, because the URL identifies the
 * recipient.
 */
function parseForm(): Middleware {
  const parsePlain = koaBody({
    json: false,
    text: false,
    urlencoded: true,
    formLimit: FORM_BYTES,
    onError: (_error, koa) => discardBody(koa.req),
  });
  return async (koa, next) => {
    if (!koa.is('multipart/form-data')) return parsePlain(koa, next);
    const limits = { bodyBytes: FORM_BYTES, fieldBytes: FORM_BYTES, files: 0 };
    const parts = await readMultipart(koa.req, limits).catch(() => undefined);
    (koa.request as { body?: unknown }).body = parts?.fields;
    return next();
  };
}

function showPage(koa: Context, status: number, html: string): void {
  koa.status = status;
  koa.type = 'text/html';
  koa.vary('Accept-Language');
  koa.body = html;
}

/**
 * Returns the host names under which this server was requested. A proxy may pass the browser's host on in
 * `X-Forwarded-Host`.
 */
function hostsOf(koa: Context): string[] {
  const names = [koa.get('host'), ...koa.get('x-forwarded-host').split(',')];
  return names.map((name) => name.trim().toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')).filter(Boolean);
}

/**
 * Returns the request data by which a hit is classified. The IP address is used only for the country and is not
 * returned.
 */
function requestOf(koa: Context): Hit {
  return {
    method: koa.method,
    userAgent: koa.get('user-agent'),
    purpose: koa.get('sec-purpose') || koa.get('purpose') || koa.get('x-moz') || koa.get('x-purpose'),
  };
}
