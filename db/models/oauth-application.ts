import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

/** An application that may request access from people. Its secret is stored as a hash. */
export type OAuthApplicationRow = Row<'oauth_applications'>;

export const OAuthApplications = orgEntity('oauth_applications', []);
