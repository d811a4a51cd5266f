import { defineWorkflow, type ArgsOf } from '../contract.ts';

/** Signals of an import. */
export type ContactImportSignals = {
  /** An import that kept failing is to go on behind its checkpoint. */
  retry: { cause: 'operator' | 'sweep' };
};

/** One CSV file on its way into the contacts of a workspace. */
export const contactImportWorkflow = defineWorkflow<ContactImportSignals>()({
  type: 'contactImport',
  kind: 'contact-import',
  parts: ['importId'],
  summary: ({ importId }) => `Contact import ${importId}`,
});

/** Arguments of an import run. */
export type ContactImportArgs = ArgsOf<typeof contactImportWorkflow>;

/** What the run asks of the world (activities/contact-import.ts). */
export interface ContactImportActivities {
  /** Reads the file and applies it behind the checkpoint; long, heartbeating. */
  importContacts(args: ContactImportArgs): Promise<void>;
  /** Gives the import up; `reason` is for people. */
  abandonImport(args: ContactImportArgs & { reason: string }): Promise<void>;
}
