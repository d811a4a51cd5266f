export const workspace = {
  'workspace.logo': 'Logo',
  'workspace.logo.why': 'PNG, JPEG or WebP, at most 200 kB. Members see it in the navigation.',
  'workspace.logo.choose': 'Choose logo',
  'workspace.logo.remove': 'Remove logo',
  'workspace.rules': 'Sign-in rules',
  'workspace.rules.domains': 'Domains of members',
  'workspace.rules.domains.why': 'Only addresses at these domains can be invited and can join.',
  'workspace.rules.domains.any': 'Any domain',
  'workspace.rules.hours': 'Hours until a new sign-in',
  'workspace.rules.hours.why':
    'A browser that signed in earlier must sign in again for this workspace, and for no other.',
  'workspace.rules.hours.any': 'No limit',
  'workspace.rules.outside':
    '{count, plural, one {# member has} other {# members have}} another domain and {count, plural, one {stays} other {stay}}',
  'workspace.export': 'Export all data',
  'workspace.export.why':
    'One file with contacts, campaigns, emails, replies, deals and settings, one JSON object a line. It has no passwords and no keys. You get a mail when it is ready.',
  'workspace.export.of': 'Export of {at}',
  'workspace.export.rows': '{count, plural, one {# row} other {# rows}} so far',
  'workspace.export.ready': '{count, plural, one {# row} other {# rows}}, {size} kB, kept until {until}',
  'workspace.export.download': 'Download',
  'deletion.workspace.ask': 'Delete {name}?',
  'deletion.workspace.what':
    'Campaigns, warmup and automations are paused, runs and approvals end, and unsent emails are cancelled. API keys and applications are refused. Members can read and export. After 14 days everything in it is erased and cannot be restored.',
  'deletion.workspace.type': 'Type {name} to confirm',
  'deletion.workspace.scheduled': 'The deletion is scheduled',
  'deletion.account.ask': 'Delete your account?',
  'deletion.account.what':
    'Workspaces in which only you are stop at once and are erased with your account after 14 days. What you made in other workspaces stays there without your name.',
  'deletion.account.scheduled': 'The deletion is scheduled',
  'deletion.workspace.do': 'Delete workspace',
  'deletion.account.do': 'Delete account',
  'deletion.account.password': 'Current password',
} as const;
