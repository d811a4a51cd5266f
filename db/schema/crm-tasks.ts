/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface CrmTasksRow {
  id: string;
  organization_id: string;
  contact_id: string | null;
  deal_id: string | null;
  assigned_to: string | null;
  assigned_team_id: string | null;
  created_by: string | null;
  title: string;
  description: string | null;
  due_date: Date | null;
  priority: 'low' | 'medium' | 'high' | 'urgent';
  priority_rank: number;
  /** Name of a task type when it was written. */
  type: string;
  status: 'pending' | 'in_progress' | 'completed' | 'cancelled';
  completed_at: Date | null;
  source: string | null;
  created_at: Date;
  updated_at: Date;
}

export interface CrmTasksInsert {
  id: string;
  organization_id: string;
  contact_id?: string | null;
  deal_id?: string | null;
  assigned_to?: string | null;
  assigned_team_id?: string | null;
  created_by?: string | null;
  title: string;
  description?: string | null;
  due_date?: Date | null;
  priority: 'low' | 'medium' | 'high' | 'urgent';
  type: string;
  status?: 'pending' | 'in_progress' | 'completed' | 'cancelled';
  completed_at?: Date | null;
  source?: string | null;
  created_at: Date;
  updated_at: Date;
}
