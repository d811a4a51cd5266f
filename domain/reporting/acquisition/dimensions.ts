import type { OrgScope } from '../../../db/tenancy.ts';

/** Dimensions by which reports of confirmed sends can be grouped. */
export const DIMENSIONS = [
  'campaign',
  'step',
  'variant',
  'offer',
  'angle',
  'cta',
  'copy',
  'mailbox',
  'audience_source',
  'segment',
  'category',
  'all',
] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/**
 * SQL for the key of a send in each dimension as text, from its row `f` of `send_facts`. A send belongs to each of its
 * contact's categories.
 */
export const KEYS: Record<Dimension, string> = {
  campaign: 'f.campaign_id::text',
  step: 'f.step_id::text',
  variant: 'f.variant_id::text',
  offer: 'f.offer',
  angle: 'f.angle',
  cta: 'f.cta',
  copy: 'f.copy_hash',
  mailbox: 'f.mailbox_id::text',
  audience_source: 'f.audience_source',
  segment: 'f.segment_id::text',
  category: 'category.id::text',
  all: `'all'::text`,
};

/**
 * Returns SQL for the key of a dimension in its stored type, because PostgreSQL groups ids and bytes several times
 * faster than collated text.
 */
export function groupingKeyOf(dimension: Dimension): string {
  const key = KEYS[dimension];
  return dimension !== 'all' && key.endsWith('::text') ? key.slice(0, -'::text'.length) : `(${key} collate "C")`;
}

/**
 * Returns SQL joins for a dimension's key, in addition to `send_facts f`. A send without a category gets one row with a
 * null key.
 */
export function joinsOf(dimension: Dimension): string {
  return dimension === 'category' ? 'left join lateral unnest(f.category_ids) as category(id) on true' : '';
}

const NAMED: Partial<
  Record<
    Dimension,
    {
      table: 'campaigns' | 'campaign_steps' | 'campaign_variants' | 'mailboxes' | 'segments' | 'labels';
      column: string;
    }
  >
> = {
  campaign: { table: 'campaigns', column: 'name' },
  step: { table: 'campaign_steps', column: 'name' },
  variant: { table: 'campaign_variants', column: 'name' },
  mailbox: { table: 'mailboxes', column: 'email' },
  segment: { table: 'segments', column: 'name' },
  category: { table: 'labels', column: 'title' },
};

/** Returns the current names of a dimension's keys. Deleted records have no name. A label is its own name. */
export async function namesOf(
  org: OrgScope,
  dimension: string,
  keys: readonly (string | null)[],
): Promise<Map<string, string>> {
  const present = keys.filter((key) => key !== null);
  if (dimension === 'copy') return subjectsOf(org, present);
  const named = NAMED[dimension as Dimension];
  if (!named) return new Map(present.map((key) => [key, key]));
  const rows = await org.sql<{ id: string; name: string }>(
    `select id, ${named.column} as name from ${named.table} where organization_id = :org and id = any(:keys::uuid[])`,
    { keys: present },
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/**
 * Returns the names of sent texts, by the hash of the text. The name is the first line, which is the subject unless the
 * email continues a thread. A text whose emails' contents are all deleted has no name.
 */
async function subjectsOf(org: OrgScope, hashes: readonly string[]): Promise<Map<string, string>> {
  const rows = await org.sql<{ id: string; name: string }>(
    `select distinct on (copy_hash) copy_hash as id, left(split_part(ltrim(content, E'\\n'), E'\\n', 1), 200) as name from sent_copies
     where organization_id = :org and copy_hash = any(:hashes::text[]) order by copy_hash, name`,
    { hashes: [...hashes] },
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}
