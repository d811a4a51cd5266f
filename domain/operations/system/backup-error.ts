/** A backup that cannot be made, or not be used; the message says why, for an operator. */
export class BackupError extends Error {}
