import type { WorkflowContract } from '../contract.ts';

/** Arguments of an import run: ids only. */
export interface ContactImportArgs {
  organizationId: string;
  importId: string;
}

/** One CSV file on its way into the contacts of a workspace. */
export const contactImportWorkflow: WorkflowContract<ContactImportArgs> = {
  type: 'contactImport',
  kind: 'contact-import',
  id: ({ importId }) => `contact-import/${importId}`,
  summary: ({ importId }) => `Contact import ${importId}`,
  searchAttributes: ({ organizationId }) => ({ OrganizationId: organizationId }),
};

/** What the run asks of the world (activities/contact-import.ts). */
export interface ContactImportActivities {
  /** Reads the file and applies it behind the checkpoint; long, heartbeating. */
  importContacts(args: ContactImportArgs): Promise<void>;
  /** Gives the import up; `reason` is for people. */
  abandonImport(args: ContactImportArgs & { reason: string }): Promise<void>;
}
