import type { Address } from '../../components/page-link.tsx';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useFigures } from './figures.ts';

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

/** Loads the steps to a first campaign with their states. Each query starts when the previous one is answered. */
export function useChecklist() {
  const may = useCan('view_campaigns');
  const mayContacts = useCan('view_contacts');
  const figures = useFigures();
  const base = useQuery({
    queryKey: ['checklist', 'base'],
    enabled: may,
    queryFn: async () => {
      const [mailboxes, contacts, campaigns] = await Promise.all([
        dataOf(heron.GET('/v1/emails', { params: { query: { limit: 1 } } })),
        mayContacts ? dataOf(heron.GET('/v1/contacts', { params: { query: { limit: 1 } } })) : undefined,
        dataOf(heron.GET('/v1/campaigns', { params: { query: { limit: 1 } } })),
      ]);
      return {
        mailbox: mailboxes.data[0],
        contact: contacts?.data[0],
        campaign: campaigns.data[0],
      };
    },
  });
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
  // Also waits for the figures. Without them, completed steps would briefly be shown as open.
  const isThere = base.data && !figures.isLoading;
  return {
    ...base,
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
    step('leads', contact ? 'done' : 'open', campaign ? `/campaigns/${campaign.id}?tab=leads` : '/leads', []),
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
