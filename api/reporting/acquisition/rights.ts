/** What the routes of this area ask of a caller. */

const area = 'acquisition';
export const read = { area, scope: ['READ_ANALYTICS'], permission: 'view_analytics' } as const;
/** Where people are named. */
export const readPeople = {
  area,
  scope: ['READ_ANALYTICS', 'READ_CONTACTS'],
  permission: { allOf: ['view_analytics', 'view_contacts'] },
} as const;
export const write = { area, scope: ['MANAGE_ACQUISITION'], permission: 'manage_settings' } as const;
