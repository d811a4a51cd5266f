/** What part of a workspace a figure is of. Without a begin it counts from the first one on, without an end to the last. */
export interface FigurePart {
  from?: Date | undefined;
  to?: Date | undefined;
  campaignId?: string | undefined;
  stepId?: string | undefined;
  mailboxId?: string | undefined;
  /** Of the mailbox; `removed` for mailboxes that are gone. */
  provider?: string | undefined;
  /** Of a country, mail program or kind of device; empty for what is unknown. */
  key?: string | undefined;
}
