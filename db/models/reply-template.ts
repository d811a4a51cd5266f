import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

/** A text for replies, with placeholders. */
export type ReplyTemplateRow = Row<'reply_templates'>;

export const ReplyTemplates = orgEntity('reply_templates', []);
