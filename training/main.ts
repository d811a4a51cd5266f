/**
 * `npm run train-reading`: trains the models that classify answers, on all writers except the held-out ones, and writes
 * the model files into domain/mail/reading. It prints measurements on the held-out writers.
 */
import { writeFileSync } from 'node:fs';
import { brotliCompressSync, constants } from 'node:zlib';
import { LANGUAGES_FILE } from '../domain/mail/reading/date-words.ts';
import { encodeModel, MODEL_FILE } from '../domain/mail/reading/model.ts';
import { encodeNames, namedPerson, NAMES_FILE } from '../domain/mail/reading/names.ts';
import { isHeldOut, sentences } from './corpus.ts';
import { wordsOfLanguages } from './languages.ts';
import { measure } from './measure.ts';
import { nameIn, trainNames } from './names.ts';
import { trainModel } from './train.ts';
import { seeded } from '../test/faults/random.ts';

const SEED = 20_261_128;
/** Value of `shift` that selects other writers in each language, who determine the temperature. */
const CALIBRATION = 1;

const all = sentences();
const known = all.filter((sentence) => !isHeldOut(sentence));
const held = all.filter((sentence) => isHeldOut(sentence));
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
console.log(`${all.length} sentences, ${known.length} of people who are not held out`);

writeFileSync(LANGUAGES_FILE, `${JSON.stringify(wordsOfLanguages(known), null, 1)}\n`);

const names = trainNames(known, seeded(SEED));
writeFileSync(NAMES_FILE, compressed(encodeNames(names)));
const referrals = held.filter((sentence) => nameIn(sentence) !== '');
const right = referrals.filter((sentence) => {
  const found = namedPerson(sentence.text, names);
  const said = nameIn(sentence);
  return (
    found !== null &&
    [found.name, found.address].some((part) => part !== null && said.toLowerCase().includes(part.toLowerCase()))
  );
});
console.log(`people named: ${percent(right.length / referrals.length)} of ${referrals.length} found`);

const model = trainModel(
  known.filter((sentence) => !isHeldOut(sentence, CALIBRATION)),
  known.filter((sentence) => isHeldOut(sentence, CALIBRATION)),
  SEED,
);
const file = compressed(encodeModel(model));
writeFileSync(MODEL_FILE, file);
console.log(`temperature ${model.temperature}; ${(file.length / 1e6).toFixed(1)} MB`);
for (const sure of [0.5, 0.6, 0.7, 0.8, 0.9])
  for (const doubt of sure === 0.5 ? [0.1, 0.15, 0.2, 0.3] : [0.2]) {
    const { heard, suppressed, precision, stopped, asked } = measure(model, held, { sure, doubt });
    console.log(
      `sure ${sure}, doubt ${doubt}: heard ${percent(heard)}, suppressed ${percent(suppressed)}, precision ${percent(precision)}, plain answers stopped ${percent(stopped)}, asked about ${percent(asked)}`,
    );
  }

function compressed(file: Buffer): Buffer {
  return brotliCompressSync(file, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });
}
