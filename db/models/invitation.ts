import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

/** An invitation of an address to an organization. Open until accepted, cancelled or expired. */
export type InvitationRow = Row<'invitations'>;

export const Invitations = orgEntity('invitations', []);
