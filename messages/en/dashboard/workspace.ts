export const workspace = {
  'workspace.data': 'Data',
  'workspace.logo': 'Logo',
  'workspace.logo.why': 'PNG, JPEG or WebP, at most 200 kB. Members see it in the navigation.',
  'workspace.logo.choose': 'Choose logo',
  'workspace.logo.remove': 'Remove logo',
  'workspace.rules': 'Sign-in rules',
  'workspace.rules.domains': 'Domains of members',
  'workspace.rules.domains.why':
    'Only addresses at these domains can be invited and can join. Separate them with commas.',
  'workspace.rules.domains.any': 'Any domain',
  'workspace.rules.hours': 'Hours until a new sign-in',
  'workspace.rules.hours.why':
    'After this time, a browser must sign in again to use this workspace. Other workspaces are not affected.',
  'workspace.rules.hours.any': 'No limit',
  'workspace.rules.outside':
    '{count, plural, one {# member has} other {# members have}} another domain and {count, plural, one {stays} other {stay}}',
  'workspace.export': 'Export all data',
  'workspace.export.why':
    'One file with contacts, campaigns, emails, replies, deals and settings, one JSON object per line. It contains no passwords and no keys. You get an email when it is ready.',
  'workspace.export.of': 'Export of {at}',
  'workspace.export.rows': '{count, plural, one {# row} other {# rows}} so far',
  'workspace.export.ready': '{count, plural, one {# row} other {# rows}}, {size} kB, kept until {until}',
  'workspace.export.download': 'Download',
  'deletion.danger': 'Danger zone',
  'deletion.workspace.start': 'Delete workspace',
  'deletion.workspace.why':
    'Work in the workspace stops at once. All its data is erased after 14 days. Until then an owner can keep it.',
  'deletion.account.start': 'Delete account',
  'deletion.account.why':
    'Your account is erased after 14 days. Until then you can sign in and keep it. Workspaces of which you are the only member are deleted with it.',
  'workspace.name': 'Name',
  'workspace.create': 'Create workspace',
  'workspace.new': 'New workspace',
  'workspace.new.why': 'It has its own members, mailboxes, contacts and campaigns. You become its owner.',
  'workspace.test': 'Test workspace',
  'workspace.test.why':
    'Its emails are processed like real ones and shown as sent, but none is delivered. Its API keys begin with ssk_test_.',
} as const;
