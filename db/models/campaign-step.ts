import { orgEntity, OrgModel } from './model.ts';

/** One node of a campaign's step graph (contract 2, create rules 2 and 3). */
export class CampaignStepRow extends OrgModel {
  static override tableName = 'campaign_steps';
  static override jsonAttributes = ['conditions', 'action'];

  campaign_id!: string;
  position!: number;
  name!: string;
  kind!: 'email' | 'action' | 'wait';
  subject!: string;
  body_plain!: string;
  body_html!: string;
  body_sync!: boolean;
  body_code!: boolean;
  /** Days between the previous step and this one. */
  wait_after!: number;
  thread_reply!: boolean;
  conditions!: Record<string, unknown>;
  action!: Record<string, unknown> | null;
}

export const CampaignSteps = orgEntity(CampaignStepRow);
