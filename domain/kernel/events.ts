/** Channel on which fan-out and realtime gateways are woken after a commit that left events. */
export const EVENTS_CHANNEL = 'heron_events';

/**
 * Every domain event (contract 1, "Catalogue"). Firehose events reach an endpoint only when it lists them.
 * Published names are never renamed: an incompatible payload gets a new name.
 */
export const EVENT_TYPES = {
  'campaign.created': { category: 'campaign', firehose: false, description: 'A campaign was created.' },
  'campaign.updated': { category: 'campaign', firehose: false, description: 'Settings, steps or senders of a campaign changed.' },
  'campaign.deleted': { category: 'campaign', firehose: false, description: 'A campaign was deleted.' },
  'campaign.started': { category: 'campaign', firehose: false, description: 'A campaign became active.' },
  'campaign.paused': { category: 'campaign', firehose: false, description: 'A campaign stopped sending; `status` says which pause.' },
  'campaign.completed': { category: 'campaign', firehose: false, description: 'Every lead of a campaign has finished.' },
  'campaign.email_sent': { category: 'campaign', firehose: true, description: 'A campaign email was accepted by the mailbox server.' },
  'campaign.email_delivered': { category: 'campaign', firehose: true, description: 'The receiving server confirmed delivery of a campaign email.' },
  'campaign.email_opened': { category: 'campaign', firehose: true, description: 'A person opened a campaign email; automated opens do not fire it.' },
  'campaign.email_clicked': { category: 'campaign', firehose: true, description: 'A person clicked a tracked link; automated clicks do not fire it.' },
  'campaign.email_bounced': { category: 'campaign', firehose: false, description: 'A campaign email bounced.' },
  'campaign.reply_received': { category: 'campaign', firehose: false, description: 'A person replied on a campaign thread.' },
  'campaign.unsubscribed': { category: 'campaign', firehose: false, description: 'A recipient opted out; `source` says how.' },
  'campaign.deliverability_warning': { category: 'campaign', firehose: false, description: 'The rolling bounce or complaint rate entered the early-warning band.' },
  'campaign.action': { category: 'campaign', firehose: false, description: 'A notify action of a campaign step ran.' },
  'deliverability.bounce': { category: 'deliverability', firehose: false, description: 'A bounce was recorded for a recipient.' },
  'deliverability.complaint': { category: 'deliverability', firehose: false, description: 'A recipient reported an email as spam.' },
  'inbox.email_received': { category: 'inbox', firehose: true, description: 'A connected mailbox received an email.' },
  'inbox.reply_received': { category: 'inbox', firehose: false, description: 'A connected mailbox received a reply in a known conversation.' },
  'email_account.connected': { category: 'mailbox', firehose: false, description: 'A mailbox was connected.' },
  'email_account.disconnected': { category: 'mailbox', firehose: false, description: 'A mailbox was switched off or its credentials stopped working.' },
  'email_account.removed': { category: 'mailbox', firehose: false, description: 'A mailbox was removed.' },
  'email_account.error': { category: 'mailbox', firehose: false, description: 'A mailbox ran into a problem that needs a person.' },
  'email_account.synced': { category: 'mailbox', firehose: true, description: 'New mail of a mailbox was read.' },
  'email_account.health_changed': { category: 'mailbox', firehose: false, description: 'The health of a mailbox changed.' },
  'contact.created': { category: 'contact', firehose: false, description: 'A contact was added one by one; bulk arrivals do not fire it.' },
  'contact.updated': { category: 'contact', firehose: false, description: 'A contact changed; a bulk edit fires once with `bulk` and `count`.' },
  'contact.deleted': { category: 'contact', firehose: false, description: 'A contact was deleted.' },
  'team.member_invited': { category: 'team', firehose: false, description: 'An address was invited to the workspace.' },
  'team.invitation_cancelled': { category: 'team', firehose: false, description: 'An open invitation was cancelled.' },
  'team.member_joined': { category: 'team', firehose: false, description: 'A person accepted an invitation.' },
  'team.member_role_changed': { category: 'team', firehose: false, description: 'A member was given another role.' },
  'team.member_removed': { category: 'team', firehose: false, description: 'A member was removed from the workspace.' },
  'role.created': { category: 'role', firehose: false, description: 'A role was created.' },
  'role.updated': { category: 'role', firehose: false, description: 'The name or permissions of a role changed.' },
  'role.deleted': { category: 'role', firehose: false, description: 'A role was deleted.' },
  'settings.updated': { category: 'settings', firehose: false, description: 'Settings of the workspace changed; `section` says which.' },
} as const;

export type EventType = keyof typeof EVENT_TYPES;
