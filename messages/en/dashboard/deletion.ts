export const deletion = {
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
