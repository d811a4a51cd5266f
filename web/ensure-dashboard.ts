/** Builds the dashboard unless the build is of these sources, as a program. */
import { ensureDashboard } from './build.ts';

await ensureDashboard();
