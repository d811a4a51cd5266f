/**
 * Run as a process of its own by download.ts. Downloads the Temporal CLI through the SDK into the directory
 * named by the first argument; the SDK only does so on the way to a started server, which is stopped at once.
 */
const downloadDir = process.argv[2];

try {
  const { TestWorkflowEnvironment } = await import('@temporalio/testing');
  const environment = await TestWorkflowEnvironment.createLocal({
    server: { executable: { type: 'cached-download', ...(downloadDir && { downloadDir }) } },
  });
  await environment.teardown();
  process.exit(0);
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  process.send?.(message, () => process.exit(1));
}
