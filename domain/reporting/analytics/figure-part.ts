/**
 * The part of a workspace's records that a number covers. Without `from` it starts at the first record, and without
 * `to` it ends at the last.
 */
export interface FigurePart {
  from?: Date | undefined;
  to?: Date | undefined;
  campaignId?: string | undefined;
  stepId?: string | undefined;
  mailboxId?: string | undefined;
  /** Provider of the mailbox; `removed` for deleted mailboxes. */
  provider?: string | undefined;
  /** Country, mail program or kind of device. Empty if it is unknown. */
  key?: string | undefined;
}
