import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: { crm_tasks: 'AccessExclusiveLock' },
  secondsAtMillionRows: 2,
};

/**
 * Overdue tasks in the order of their due date. The order of all tasks begins with everything that was done in time, and the index without an order could not give a
 * page. The due date and the member stand in the index too, so that it counts by itself.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create index crm_tasks_open_due on crm_tasks (organization_id, coalesce(due_date, '-infinity'), id) include (due_date, assigned_to)
      where status in ('pending', 'in_progress');
    drop index crm_tasks_overdue;
  `);
}
