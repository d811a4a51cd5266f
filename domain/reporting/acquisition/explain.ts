import { decodeIdCursor, encodeCursor, type Page, type PageRequest } from '../../../lib/cursor.ts';
import { readCountedRows } from '../aggregates/counted-rows.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { bindingsOf, inCohort, inWindow, MATURE, type Cohort } from './cohort-conditions.ts';
import { CONVERTED, MAY_COUNT, ofKnownCampaign } from './cohort.ts';
import { joinsOf, KEYS, type Dimension } from './dimensions.ts';
import { primaryGoals, revenueGoal } from './primary-goals.ts';

/** Numbers of a summary or a breakdown for which the counted rows can be listed. */
export const FIGURES = [
  'confirmed_sends',
  'mature_sends',
  'prospects',
  'replied',
  'positive_reply',
  'signup',
  'activation',
  'paid',
  'window_revenue',
] as const;
type Figure = (typeof FIGURES)[number];

/** Identifies a number of a report or of one of its groups. */
export interface FigureOf {
  figure: Figure;
  /** True to count only people who reached the stage after a send whose window has closed. */
  mature?: boolean | undefined;
  dimension: Dimension;
  /** Key of the group. Null for sends without key, undefined for the whole report. */
  key?: string | null | undefined;
  /** Currency, for the figure `window_revenue`. */
  currency?: string | undefined;
}

/** A send, a contact or a conversion that is counted in a number of a report. */
export interface CountedRow {
  id: string;
  contact_id: string | null;
  contact_email: string | null;
  send_id: string;
  conversion_id: string | null;
  at: Date;
  amount_minor: number | null;
  currency: string | null;
}

const LIST = 'acquisition.explain';

/**
 * Lists the sends, contacts or conversions that a figure of the summary or the breakdown counts. `total` equals the
 * figure.
 * @throws AppError not_found for an unknown campaign; bad_request for a bad cursor
 */
export async function explainFigure(
  ctx: Ctx,
  asked: Cohort,
  of: FigureOf,
  page: PageRequest,
): Promise<Page<CountedRow>> {
  const org = reader(ctx);
  // Leaves the range out of the cursor, because its default end is the current time and so differs on the next page.
  const named = [asked.windowDays, asked.campaignId, of];
  const after = decodeIdCursor(LIST, named, page.cursor);
  const cohort = await ofKnownCampaign(org, asked);
  const goals = await primaryGoals(org);
  const goal =
    of.figure === 'window_revenue' ? revenueGoal(goals) : ((goals as Record<string, string>)[of.figure] ?? null);
  const bindings = {
    ...bindingsOf(ctx.clock.now(), cohort),
    goal,
    currency: of.currency ?? null,
    ...(of.key ? { key: of.key } : {}),
  };
  return readCountedRows<CountedRow>(org, sqlOf(of, cohort), 'b.*, k.email as contact_email', bindings, {
    after: after === undefined ? undefined : { id: after },
    limit: page.limit,
    cursorFor: ({ id }) => encodeCursor(LIST, named, [id]),
  });
}

const NO_CONVERSION = 'null::uuid as conversion_id, null::float8 as amount_minor, null::text as currency';

/**
 * Returns SQL that selects rows with the id of the send, contact or conversion. `send_id` is the last send to which the
 * row is attributed.
 */
function sqlOf({ figure, mature, dimension: named, key }: FigureOf, cohort: Cohort): string {
  const dimension = key === undefined ? 'all' : named;
  const group =
    key === undefined ? '' : key === null ? ` and ${KEYS[dimension]} is null` : ` and ${KEYS[dimension]} = :key`;
  const where = `${inCohort(cohort)}${group}${mature ? ` and ${MATURE}` : ''}`;
  const sends = `send_facts f ${joinsOf(dimension)}`;
  switch (figure) {
    case 'confirmed_sends':
    case 'mature_sends':
      return `select distinct f.send_id as id, f.contact_id, f.send_id, f.sent_at as at, ${NO_CONVERSION}
         from ${sends} where ${where}${figure === 'mature_sends' ? ` and ${MATURE}` : ''}`;
    case 'prospects':
      return perContact(`${sends} where ${where} and f.contact_id is not null`, 'f.sent_at', NO_CONVERSION);
    case 'replied':
    case 'positive_reply': {
      const at = figure === 'replied' ? 'f.replied_at' : 'f.positive_at';
      return perContact(`${sends} where ${where} and f.contact_id is not null and ${inWindow(at)}`, at, NO_CONVERSION);
    }
    case 'window_revenue':
      return `select distinct on (c.id) c.id, f.contact_id, f.send_id, c.occurred_at as at, c.id as conversion_id,
           c.value_minor::float8 as amount_minor, c.currency
         from ${CONVERTED} ${joinsOf(dimension)}
         where ${where} and ${MAY_COUNT} and c.goal_id = :goal and c.value_minor is not null and (:currency::text is null or c.currency = :currency)
         order by c.id, f.sent_at desc, f.send_id desc`;
    default:
      return perContact(
        `${CONVERTED} ${joinsOf(dimension)} where ${where} and ${MAY_COUNT} and c.goal_id = :goal`,
        'c.occurred_at',
        'c.id as conversion_id, c.value_minor::float8 as amount_minor, c.currency',
      );
  }
}

/** Returns SQL that selects the first occurrence per contact. */
function perContact(from: string, at: string, conversion: string): string {
  return `select distinct on (f.contact_id) f.contact_id as id, f.contact_id, f.send_id, ${at} as at, ${conversion}
     from ${from} order by f.contact_id, ${at}, f.sent_at desc, f.send_id desc`;
}
