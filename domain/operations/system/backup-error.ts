/** Thrown when a backup cannot be created or used. The message explains the reason to an operator. */
export class BackupError extends Error {}
