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
  'deletion.danger': 'Danger zone',
  'deletion.workspace.start': 'Delete workspace',
  'deletion.workspace.why':
    'Stops its work at once. Everything in it is erased after 14 days, until when an owner can keep it.',
  'deletion.account.start': 'Delete account',
  'deletion.account.why':
    'Your account is erased after 14 days, until when you can sign in and keep it. Workspaces in which only you are are deleted with it.',
  'workspace.name': 'Name',
  'workspace.create': 'Create workspace',
  'workspace.new': 'New workspace',
  'workspace.new.why': 'It has its own members, mailboxes, contacts and campaigns. You become its owner.',
  'workspace.test': 'Test workspace',
  'workspace.test.why':
    'Its emails go through the whole engine and are shown as sent, but none leaves. Its API keys begin with ssk_test_.',
} as const;
