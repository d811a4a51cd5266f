/**
 * Separate process of download.ts. Downloads the Temporal CLI with the SDK into the directory of the first argument, in
 * the version of the second. The SDK only downloads in order to start a server, which is stopped at once.
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
