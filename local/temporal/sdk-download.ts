/**
 * Run as a process of its own by download.ts. Downloads the Temporal CLI through the SDK into the directory
 * named by the first argument, in the version of the second; the SDK only does so on the way to a started server, which is stopped at once.
 */
const [downloadDir, version] = process.argv.slice(2);

try {
  const { TestWorkflowEnvironment } = await import('@temporalio/testing');
  const environment = await TestWorkflowEnvironment.createLocal({
    server: {
      executable: { type: 'cached-download', ...(downloadDir && { downloadDir }), ...(version && { version }) },
    },
  });
  await environment.teardown();
  process.exit(0);
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  process.send?.(message, () => process.exit(1));
}
