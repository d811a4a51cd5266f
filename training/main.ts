/**
 * `npm run train-reading`: trains the model that reads answers, on all people who are not held out, and writes domain/mail/reading/model.bin.br. It prints what the
 * model makes of the people who are.
 */
import { writeFileSync } from 'node:fs';
import { brotliCompressSync, constants } from 'node:zlib';
import { LANGUAGES_FILE } from '../domain/mail/reading/date-words.ts';
import { encodeModel, MODEL_FILE } from '../domain/mail/reading/model.ts';
import { isHeldOut, sentences } from './corpus.ts';
import { wordsOfLanguages } from './languages.ts';
import { measure } from './measure.ts';
import { trainModel } from './train.ts';

const SEED = 20_261_128;
/** Another pair of people in each language, by whom the temperature is chosen. */
const CALIBRATION = 1;

const all = sentences();
const known = all.filter((sentence) => !isHeldOut(sentence));
const calibration = known.filter((sentence) => isHeldOut(sentence, CALIBRATION));
console.log(`${all.length} sentences, ${known.length} of people who are not held out`);
writeFileSync(LANGUAGES_FILE, `${JSON.stringify(wordsOfLanguages(known), null, 1)}
`);
const { temperature } = trainModel(
  known.filter((sentence) => !isHeldOut(sentence, CALIBRATION)),
  calibration,
  SEED,
);
console.log(`temperature ${temperature}`);
const model = { ...trainModel(known, [], SEED), temperature };
const file = brotliCompressSync(encodeModel(model), { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });
writeFileSync(MODEL_FILE, file);
console.log(`${MODEL_FILE.pathname.split('/').at(-1)}: ${(file.length / 1e6).toFixed(1)} MB`);
const held = all.filter((sentence) => isHeldOut(sentence));
for (const sure of [0.5, 0.6, 0.7, 0.8, 0.9])
  for (const doubt of sure === 0.5 ? [0.1, 0.15, 0.2, 0.3] : [0.2]) {
    const { heard, suppressed, precision, stopped } = measure(model, held, { sure, doubt });
    const part = (value: number) => `${(100 * value).toFixed(1)} %`;
    console.log(
      `sure ${sure}, doubt ${doubt}: heard ${part(heard)}, suppressed ${part(suppressed)}, precision ${part(precision)}, plain answers stopped ${part(stopped)}`,
    );
  }
