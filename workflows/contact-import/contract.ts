import { defineWorkflow, type ArgsOf, type Sentence } from '../contract.ts';

/** Signals of an import. */
export type ContactImportSignals = {
  /** Continues an import that failed repeatedly, after its last checkpoint. */
  retry: { cause: 'operator' | 'sweep' };
};

/** Import of one CSV file into the contacts of a workspace. */
export const contactImportWorkflow = defineWorkflow<ContactImportSignals>()({
  type: 'contactImport',
  kind: 'contact-import',
  parts: ['importId'],
  summary: ({ importId }) => `Contact import ${importId}`,
  cancel: 'Ends this run as failed, and the import with it. What was imported stays.',
});

/** Arguments of the import workflow. */
export type ContactImportArgs = ArgsOf<typeof contactImportWorkflow>;

/** Activities that the workflow calls. */
export interface ContactImportActivities {
  /** Imports the rows of the file after the checkpoint. Takes long and sends heartbeats. */
  importContacts(args: ContactImportArgs): Promise<void>;
  /** Marks the import as failed. `reason` is the reason of a refusal, or null for any other error. */
  abandonImport(args: ContactImportArgs & { reason: Sentence | null }): Promise<void>;
}
