export const deletion = {
  'deletion.workspace.ask': 'Delete {name}?',
  'deletion.workspace.what':
    'Campaigns, warmup and automations are paused, runs and approvals end, and unsent emails are cancelled. API keys and applications lose access. Members can still read and export data. After 14 days all data is erased and cannot be restored.',
  'deletion.workspace.type': 'Type {name} to confirm',
  'deletion.workspace.scheduled': 'The deletion is scheduled',
  'deletion.account.ask': 'Delete your account?',
  'deletion.account.what':
    'Workspaces of which you are the only member stop at once and are erased with your account after 14 days. Records that you created in other workspaces are kept without your name.',
  'deletion.account.scheduled': 'The deletion is scheduled',
  'deletion.workspace.do': 'Delete workspace',
  'deletion.account.do': 'Delete account',
  'deletion.account.password': 'Current password',
} as const;
