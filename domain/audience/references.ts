import { AppError, type Problem } from '../../lib/errors.ts';
import { message, type Message } from '../../messages/index.ts';
import { CUSTOM_PREFIX } from '../directory/segments/fields.ts';
import type { Tx } from '../platform/kernel/transact.ts';

/** Maximum number of records named in a refusal. */
const MAX_NAMED = 20;

/** A category (by id) or a custom field (by key) that segments, automations and campaigns may reference. */
type Named = { category: string } | { field: string };

/** A record with conditions that reference the category or field and would match other contacts without it. */
interface Namer {
  kind: 'segments' | 'automations' | 'campaigns';
  id: string;
  name: string;
}

/**
 * Refuses to delete or rename a category or field that a condition references. For example, "not in this category"
 * would match every contact once the category is deleted. Segments are locked, so that no concurrent transaction can
 * add a reference.
 * @throws AppError conflict naming up to 20 segments, automations and campaigns
 */
export async function assertNotReferenced(tx: Tx, named: Named): Promise<void> {
  const namers = await referrersOf(tx, named);
  if (namers.length === 0) return;
  const said =
    'category' in named ? message('labels.category_named') : message('contacts.field_named', { field: named.field });
  throw new AppError('conflict', said, {
    problems: namers.map(toProblem),
    fix: message('labels.category_named.fix'),
  });
}

function toProblem({ kind, id, name }: Namer): Problem {
  const said: Record<Namer['kind'], Message> = {
    segments: message('segments.names_it', { name }),
    automations: message('automations.names_it', { name }),
    campaigns: message('campaigns.names_it', { name }),
  };
  return { path: `${kind}.${id}`, message: said[kind] };
}

/** Returns the LIKE pattern for a name in a condition's JSON text. */
const inJson = (text: string): string => `%${JSON.stringify(text).replace(/[\\%_]/g, '\\$&')}%`;

async function referrersOf(tx: Tx, named: Named): Promise<Namer[]> {
  const condition =
    'category' in named ? { field: 'category', values: [named.category] } : { field: `${CUSTOM_PREFIX}${named.field}` };
  const bindings = { condition: JSON.stringify([condition]), limit: MAX_NAMED };
  const segments = await tx.org.sql<{ id: string; name: string }>(
    `select id, name from segments where organization_id = :org and conditions @> cast(:condition as jsonb)
     order by id limit :limit for share`,
    bindings,
  );
  const inGraph = 'category' in named ? inJson(named.category) : inJson(`contact.custom_fields.${named.field}`);
  const automations = await tx.org.sql<{ id: string; name: string }>(
    `select id, name from automations where organization_id = :org and graph::text like :graph order by id limit :limit`,
    { graph: inGraph, limit: MAX_NAMED },
  );
  const campaigns =
    'category' in named
      ? []
      : await tx.org.sql<{ id: string; name: string }>(
          `select c.id, c.name from campaigns c
           where c.organization_id = :org and c.status <> 'completed' and exists (
             select 1 from campaign_steps s where s.campaign_id = c.id and s.conditions::text like :field)
           order by c.id limit :limit`,
          { field: inJson(`contact.${CUSTOM_PREFIX}${named.field}`), limit: MAX_NAMED },
        );
  return [
    ...segments.map((row) => ({ ...row, kind: 'segments' as const })),
    ...automations.map((row) => ({ ...row, kind: 'automations' as const })),
    ...campaigns.map((row) => ({ ...row, kind: 'campaigns' as const })),
  ].slice(0, MAX_NAMED);
}
