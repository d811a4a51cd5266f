import test from 'ava';
import { jsonText, lineText } from './print.ts';

/**
 * Escape sequences (7-bit and 8-bit) that change a window's title, write to the clipboard or clear the screen, and
 * characters that change the reading direction.
 */
const HOSTILE =
  'Lea\u001b]0;owned\u0007\u001b]52;c;ZXZpbA==\u0007\u001b[2J\u009b2J\u009d0;x\u009c\r\u202Eexe.gpj\u200b\u007f';

test('what strangers wrote commands no terminal, and stays the same to programs', (t) => {
  const printed = lineText([`Enrollment of ${HOSTILE}`, '  state\tactive']);
  t.is(printed, 'Enrollment of Lea]0;owned]52;c;ZXZpbA==[2J2J0;xexe.gpj\n  state\tactive\n');
  const json = jsonText({ name: HOSTILE });
  t.notRegex(json, /(?!\n)\p{Cc}/u);
  t.deepEqual(JSON.parse(json), { name: HOSTILE });
});
