/** Builds an id for sample data. */

const id = (last: number): string => `01990000-0000-7000-8000-${String(last).padStart(12, '0')}`;

/** Ids of the rows that appear in the sample data of triggers. */
export const SAMPLE_IDS = {
  campaign: id(1),
  step: id(2),
  contact: id(3),
  mailbox: id(4),
  email: id(5),
  reply: id(6),
  pipeline: id(7),
  stage: id(8),
  nextStage: id(9),
  deal: id(10),
  task: id(11),
  meeting: id(12),
  event: id(13),
  form: id(14),
  submission: id(15),
  approval: id(16),
  category: id(17),
  import: id(18),
} as const;

/** Time at which the sample events occurred, RFC 3339. */
export const SAMPLE_TIME = '2026-05-04T09:30:00.000Z';

/** Address of the contact in all samples. */
export const SAMPLE_ADDRESS = 'lea@example.com';

/** Contact and email fields of a sample. */
export const SAMPLE_RECIPIENT = {
  campaign_id: SAMPLE_IDS.campaign,
  step_id: SAMPLE_IDS.step,
  contact_id: SAMPLE_IDS.contact,
  contact_email: SAMPLE_ADDRESS,
  email_account_id: SAMPLE_IDS.mailbox,
  task_id: SAMPLE_IDS.email,
  message_id: '<first@example.org>',
};

/** Fields of the contact in samples of contact triggers. */
export const SAMPLE_CONTACT = {
  contact_id: SAMPLE_IDS.contact,
  contact_email: SAMPLE_ADDRESS,
  first_name: 'Lea',
  last_name: 'Berg',
  company: 'Berg GmbH',
  phone: '',
  subscribed: true,
  custom_fields: { plan: 'trial' },
  source: 'api',
  source_detail: '',
  campaign_ids: [SAMPLE_IDS.campaign],
  category_ids: [SAMPLE_IDS.category],
  created_at: SAMPLE_TIME,
};

/** Fields of the deal in sample data of deal triggers. */
export const SAMPLE_DEAL = {
  entity_id: SAMPLE_IDS.deal,
  deal_id: SAMPLE_IDS.deal,
  pipeline_id: SAMPLE_IDS.pipeline,
  stage_id: SAMPLE_IDS.stage,
  contact_id: SAMPLE_IDS.contact,
  name: 'Berg GmbH, yearly plan',
  value: 4900,
  currency: 'EUR',
  status: 'open' as const,
  assigned_to: null,
  campaign_id: SAMPLE_IDS.campaign,
  updated_at: SAMPLE_TIME,
};

/** Fields of the task in sample data of task triggers. */
export const SAMPLE_TASK = {
  entity_id: SAMPLE_IDS.task,
  task_id: SAMPLE_IDS.task,
  title: 'Call Lea',
  title_code: null,
  title_values: null,
  contact_id: SAMPLE_IDS.contact,
  deal_id: SAMPLE_IDS.deal,
  assigned_to: null,
  assigned_team_id: null,
  due_date: SAMPLE_TIME,
  priority: 'high' as const,
  type: 'Call',
  status: 'pending' as const,
  updated_at: SAMPLE_TIME,
};

/** Fields of the meeting in sample data of meeting triggers. */
export const SAMPLE_MEETING = {
  entity_id: SAMPLE_IDS.meeting,
  meeting_id: SAMPLE_IDS.meeting,
  source: 'cal_com',
  contact_id: SAMPLE_IDS.contact,
  contact_email: SAMPLE_ADDRESS,
  campaign_id: SAMPLE_IDS.campaign,
  invitee_name: 'Lea Berg',
  event_name: 'Introduction',
  scheduled_for: '2026-05-06T13:00:00.000Z',
  end_time: '2026-05-06T13:30:00.000Z',
  join_url: 'https://meet.example.com/lea',
};
