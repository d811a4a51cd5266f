import type { Address } from '../../components/page-link.tsx';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';

type StepKey = 'mailbox' | 'dns' | 'leads' | 'campaign' | 'checked' | 'sent' | 'reply';

/** Step towards a first campaign with its state. An open step has its problems and a link. */
export interface ChecklistStep {
  key: StepKey;
  state: 'done' | 'open' | 'wrong';
  /** Problems with their fixes, from the API. */
  problems: { code: string; message: string; fix: string }[];
  to: Address;
  /** True if the step is in progress and needs no action. */
  isUnderWay: boolean;
}

/** Number of campaigns in which the one that was started is searched. */
const MOST_CAMPAIGNS = 20;

/** Loads what a workspace begins with: its first mailbox and its campaigns, or a contact if there is no campaign yet. */
function useBase() {
  const may = useCan('view_campaigns');
  const mayContacts = useCan('view_contacts');
  return useQuery({
    queryKey: ['checklist', 'base'],
    enabled: may,
    queryFn: async () => {
      const [mailboxes, campaigns] = await Promise.all([
        dataOf(heron.GET('/v1/emails', { params: { query: { limit: 1 } } })),
        dataOf(heron.GET('/v1/campaigns', { params: { query: { limit: MOST_CAMPAIGNS } } })),
      ]);
      const started = campaigns.data.find(({ status }) => status !== 'draft');
      const campaign = started ?? campaigns.data[0];
      const contacts =
        campaign || !mayContacts
          ? undefined
          : await dataOf(heron.GET('/v1/contacts', { params: { query: { limit: 1 } } }));
      return { mailbox: mailboxes.data[0], contact: contacts?.data[0], campaign, wasStarted: started !== undefined };
    },
  });
}

/** Loads the figures of the workspace's last ninety days, unless no campaign was started yet. */
export function useFigures() {
  const mayCampaigns = useCan('view_campaigns');
  const base = useBase();
  return useQuery({
    queryKey: ['checklist', 'figures'],
    queryFn: () => dataOf(heron.GET('/v1/analytics/dashboard', { params: { query: { period: '90d' } } })),
    enabled: useCan('view_analytics') && (!mayCampaigns || base.data?.wasStarted === true),
  });
}

/** Loads the steps to a first campaign with their states. Each query starts when the previous one is answered. */
export function useChecklist() {
  const figures = useFigures();
  const base = useBase();
  const { mailbox, campaign } = base.data ?? {};
  const dns = useQuery({
    queryKey: ['checklist', 'dns', mailbox?.id],
    enabled: mailbox !== undefined,
    staleTime: 5 * 60_000,
    queryFn: () => dataOf(heron.GET('/v1/emails/{id}/auth-check', { params: { path: { id: mailbox!.id } } })),
  });
  const check = useQuery({
    queryKey: ['checklist', 'check', campaign?.id],
    // A campaign that was started needs no check.
    enabled: campaign?.status === 'draft',
    queryFn: () => dataOf(heron.POST('/v1/campaigns/{id}/validate', { params: { path: { id: campaign!.id } } })),
  });
  // Also waits for figures and check. Without them, completed steps would briefly be shown as open.
  const isThere = base.data && !figures.isLoading && !check.isLoading;
  return {
    ...base,
    /** True until it is known which parts the page has. */
    isUnknown: base.isLoading,
    data: isThere ? stepsOf({ ...base.data, stats: figures.data?.overall_stats }, dns.data, check.data) : undefined,
  };
}

type Base = {
  mailbox?: { id: string; hold: { code: string; reason: string; fix: string } | null } | undefined;
  contact?: { id: string } | undefined;
  campaign?: { id: string; status: string } | undefined;
  stats?: { total_emails_sent: number; total_replies: number } | undefined;
};

interface DnsAnswer {
  all_aligned: boolean;
  summary: string;
}

interface CheckAnswer {
  valid: boolean;
  problems: { code: string; severity: string; message: string; fix: string }[];
}

/** Returns the steps with their states. A step with a problem contains its fix. */
function stepsOf(base: Base, dns: DnsAnswer | undefined, check: CheckAnswer | undefined): ChecklistStep[] {
  const { mailbox, contact, campaign, stats } = base;
  const errors = check?.problems.filter(({ severity }) => severity === 'error') ?? [];
  const isStarted = campaign !== undefined && campaign.status !== 'draft';
  const hasLeads = isStarted || (campaign ? check && errors.every(({ code }) => code !== 'no_leads') : contact);
  const campaignAt = campaign ? (`/campaigns/${campaign.id}` as const) : '/campaigns/new';
  return [
    step(
      'mailbox',
      mailbox ? (mailbox.hold ? 'wrong' : 'done') : 'open',
      mailbox ? `/mailboxes/${mailbox.id}` : '/mailboxes/new',
      mailbox?.hold ? [{ code: mailbox.hold.code, message: mailbox.hold.reason, fix: mailbox.hold.fix }] : [],
    ),
    step(
      'dns',
      dns?.all_aligned ? 'done' : dns ? 'wrong' : 'open',
      mailbox ? `/mailboxes/${mailbox.id}` : '/mailboxes/new',
      dns && !dns.all_aligned ? [{ code: 'dns', message: dns.summary, fix: '' }] : [],
    ),
    step('leads', hasLeads ? 'done' : 'open', campaign ? `/campaigns/${campaign.id}?tab=leads` : '/leads', []),
    step('campaign', campaign ? 'done' : 'open', campaignAt, []),
    step(
      'checked',
      isStarted || check?.valid ? 'done' : errors.length > 0 ? 'wrong' : 'open',
      campaign ? `/campaigns/${campaign.id}?tab=check` : campaignAt,
      isStarted ? [] : errors.map(({ code, message, fix }) => ({ code, message, fix })),
    ),
    step('sent', (stats?.total_emails_sent ?? 0) > 0 ? 'done' : 'open', campaignAt, [], isStarted),
    step('reply', (stats?.total_replies ?? 0) > 0 ? 'done' : 'open', '/inbox', []),
  ];
}

function step(
  key: StepKey,
  state: ChecklistStep['state'],
  to: Address,
  problems: ChecklistStep['problems'],
  isUnderWay = false,
): ChecklistStep {
  return { key, state, to, problems, isUnderWay };
}
