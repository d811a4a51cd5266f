/** Area of the routes in this folder, and the rights that they require. */

const area = 'acquisition';
export const read = { area, scope: ['READ_ANALYTICS'], permission: 'view_analytics' } as const;
/** Rights of routes that return people's names. */
export const readPeople = {
  area,
  scope: ['READ_ANALYTICS', 'READ_CONTACTS'],
  permission: { allOf: ['view_analytics', 'view_contacts'] },
} as const;
export const write = { area, scope: ['MANAGE_ACQUISITION'], permission: 'manage_settings' } as const;
