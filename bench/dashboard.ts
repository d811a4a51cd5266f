import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { launchBrowser } from '../test/harness/browser.ts';
import type { TestAssembly, TestDeps } from '../test/harness/database.ts';
import { createVisitorCookie } from '../test/harness/factories.ts';
import { ensureDashboard } from '../web/build.ts';
import type { BenchContext, BenchResult } from './context.ts';
import { makeCampaign } from './data.ts';
import { median, percentile } from './measure.ts';
import { clickThrough, openAddress, scrollList, SLOW, type Opened, type Visits } from './visits.ts';

const LEADS = 100_000;
const QUICK_LEADS = 1_000;
const PAINT_TARGET_MS = 1_500;
const FRAME_MS = 1000 / 60;
/** Frame time (ms) from which a frame counts as dropped. */
const DROPPED_MS = 1.5 * FRAME_MS;
/** Scrolling speeds in pixels per frame: a mouse wheel, a fast wheel, and a fling of twenty rows per frame. */
const SPEEDS = [45, 300, 900];
const SIGN_IN = '/account/sign-in';
const CLICKED = ['/campaigns', '/inbox', '/leads', '/reports', '/'];

/** Workspace whose dashboard is measured. */
interface Office {
  userId: string;
  campaignId: string;
  what: string;
}

/**
 * Measures the dashboard in a browser with a slowed processor. The figures are: time until pages show content,
 * scrolling of a long list, requests per page, and time from click to content. With `--data`, it uses the data set that
 * an earlier run of `reports` has left.
 */
export async function run({ stack, assembly, quick, dataDir, log }: BenchContext): Promise<BenchResult> {
  await ensureDashboard();
  // Stops the worker, whose background work would distort the measurement.
  await stack.processes.worker.stop();
  const { deps } = assembly;
  const office = (await keptOffice(deps, dataDir)) ?? (await ownOffice(assembly, quick));
  const chrome = await launchBrowser();
  const visits: Visits = {
    chrome,
    url: stack.urls.api,
    cookie: () => createVisitorCookie(deps, office.userId),
  };
  const figures: BenchResult['figures'] = [{ label: 'data', value: office.what }];
  const raw: Record<string, unknown> = {};
  const note = (label: string, value: string) => {
    figures.push({ label, value });
    log(`${label}: ${value}`);
  };
  try {
    const paints = await measurePaint(visits, office, quick ? 1 : 5, note, raw);
    const frames = await measureScroll(visits, quick ? 60 : 300, note, raw);
    const first = await clickThrough(visits, CLICKED);
    const again = await clickThrough(visits, [...CLICKED, ...CLICKED]);
    raw['click to content (ms)'] = { first, again };
    for (const path of CLICKED)
      note(`click to ${path}: for the first time; again`, `${ms(first[path]!)}; ${ms(again[path]!)}`);
    return { figures, targets: [...paints, ...frames], raw };
  } finally {
    await chrome.close();
  }
}

async function measurePaint(
  visits: Visits,
  { campaignId }: Office,
  rounds: number,
  note: (label: string, value: string) => void,
  raw: Record<string, unknown>,
): Promise<BenchResult['targets']> {
  const addresses = {
    'sign-in': SIGN_IN,
    start: '/',
    campaigns: '/campaigns',
    inbox: '/inbox',
    leads: '/leads',
    'one campaign': `/campaigns/${campaignId}`,
  };
  const targets: BenchResult['targets'] = [];
  for (const [name, path] of Object.entries(addresses)) {
    const opened: Opened[] = [];
    for (let round = 0; round < rounds; round += 1)
      opened.push(
        await openAddress(path === SIGN_IN ? { chrome: visits.chrome, url: visits.url } : visits, path, SLOW),
      );
    raw[`opening: ${name}`] = opened;
    const of = (key: 'paintMs' | 'headingMs' | 'allMs' | 'cpuMs') => median(opened.map((one) => one[key]));
    const { asked, files, fileBytes, apiBytes } = opened[0]!;
    const twice = asked.length - new Set(asked).size;
    note(
      `${name}, processor ${SLOW}x slower: first paint; heading; everything; processor time of it`,
      [of('paintMs'), of('headingMs'), of('allMs'), of('cpuMs')].map(ms).join('; '),
    );
    note(
      `${name}: files; requests to the API, of which to an address asked before`,
      `${files}, ${kb(fileBytes)}; ${asked.length}, ${kb(apiBytes)}, ${twice}`,
    );
    targets.push({
      what: `${name}: heading on a processor ${SLOW}x slower`,
      target: `under ${PAINT_TARGET_MS} ms`,
      got: ms(of('headingMs')),
      met: of('headingMs') < PAINT_TARGET_MS,
    });
  }
  return targets;
}

async function measureScroll(
  visits: Visits,
  frames: number,
  note: (label: string, value: string) => void,
  raw: Record<string, unknown>,
): Promise<BenchResult['targets']> {
  const targets: BenchResult['targets'] = [];
  for (const pixels of SPEEDS) {
    const scrolled = await scrollList(visits, '/leads', pixels, frames);
    raw[`scrolling ${pixels} px a frame`] = scrolled;
    const dropped = scrolled.frames.filter((time) => time > DROPPED_MS).length;
    const p = (share: number) => ms(percentile(scrolled.frames, share));
    note(
      `leads, ${pixels} px with each frame: time between frames p50; p95; processor time of a frame`,
      `${p(0.5)}; ${p(0.95)}; ${scrolled.cpuMsPerFrame.toFixed(1)} ms`,
    );
    note(
      `leads, ${pixels} px with each frame: frames; late; without rows; requests`,
      `${frames}; ${dropped}; ${scrolled.empty}; ${scrolled.asked}`,
    );
    targets.push({
      what: `leads, ${pixels} px with each frame`,
      target: `p95 of frames under ${ms(DROPPED_MS)}`,
      got: p(0.95),
      met: percentile(scrolled.frames, 0.95) < DROPPED_MS,
    });
  }
  return targets;
}

/** Returns the workspace of the data set that the benchmark of reports has left, as its owner. */
async function keptOffice(deps: TestDeps, dataDir: string | undefined): Promise<Office | undefined> {
  const text = dataDir && (await readFile(join(dataDir, 'bench-reports.json'), 'utf8').catch(() => undefined));
  if (!text) return undefined;
  const { office, shape } = JSON.parse(text) as {
    office: { organizationId: string; campaignIds: string[] };
    shape: { sends: number; contacts: number };
  };
  const member = await deps.db('memberships').where('organization_id', office.organizationId).first('user_id');
  return {
    userId: member.user_id,
    campaignId: office.campaignIds[0]!,
    what: `${shape.sends} sends, ${shape.contacts} contacts`,
  };
}

/** Creates a separate workspace with one campaign and many leads. */
async function ownOffice(assembly: TestAssembly, quick: boolean): Promise<Office> {
  const contacts = quick ? QUICK_LEADS : LEADS;
  const { tenant, campaignId } = await makeCampaign(assembly, {
    contacts,
    steps: [{ subject: 'A' }, { subject: 'B' }],
    mailboxes: 3,
    gapSeconds: 60,
    smtpPort: 1,
  });
  return { userId: tenant.userId, campaignId, what: `${contacts} contacts, all leads of one campaign; no email sent` };
}

const ms = (value: number): string => `${Math.round(value)} ms`;
const kb = (bytes: number): string => `${Math.round(bytes / 1024)} KB`;
