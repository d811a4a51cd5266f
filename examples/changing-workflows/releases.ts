/** All releases in one bundle, so that a test can replay a history of one with the code of another. */
export { trial as first } from './first.ts';
export { trial as careless } from './careless.ts';
export { trial as patched } from './patched.ts';
export { trial as deprecated } from './deprecated.ts';
