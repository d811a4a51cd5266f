import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

/** An application that may ask people for access. Its secret is stored as a hash. */
export type OAuthApplicationRow = Row<'oauth_applications'>;

export const OAuthApplications = orgEntity('oauth_applications', []);
