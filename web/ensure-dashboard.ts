/** Program that builds the dashboard unless the build matches the sources. */
import { ensureDashboard } from './build.ts';

await ensureDashboard();
