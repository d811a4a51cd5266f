/**
 * Separate process of download.ts. Downloads the Temporal CLI with the SDK. The first argument is the directory, the
 * second the version. The SDK downloads only when it starts a server, so a server is started and stopped at once.
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
