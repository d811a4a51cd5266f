/**
 * `npm run train-reading`: trains the models that classify answers, on all writers except the held-out ones, and writes
 * the model files into domain/mail/reading. It prints measurements on the held-out writers.
 */
import { writeFileSync } from 'node:fs';
import { brotliCompressSync, constants } from 'node:zlib';
import { LANGUAGES_FILE } from '../domain/mail/reading/date-words.ts';
import { DOUBT, SURE } from '../domain/mail/inbound/intent.ts';
import { encodeModel, MODEL_FILE, type Model } from '../domain/mail/reading/model.ts';
import { encodeNames, namedPerson, NAMES_FILE } from '../domain/mail/reading/names.ts';
import { isHeldOut, sentences, type Sentence } from './corpus.ts';
import { wordsOfLanguages } from './languages.ts';
import { measureEach, type Thresholds } from './measure.ts';
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

const calibration = known.filter((sentence) => isHeldOut(sentence, CALIBRATION));
const { model, before } = await trainModel(
  known.filter((sentence) => !isHeldOut(sentence, CALIBRATION)),
  calibration,
  SEED,
);
const file = compressed(encodeModel(model));
writeFileSync(MODEL_FILE, file);
console.log(`seed ${SEED}; temperature ${model.temperature}; ${(file.length / 1e6).toFixed(1)} MB`);
// The thresholds are chosen by these lines, and not by the people who are held out.
console.log('people who calibrate, before they are learned:');
print(before, calibration, [
  ...[0.1, 0.12, 0.14, 0.16].map((doubt) => ({ sure: SURE, doubt })),
  ...[0.7, 0.72, 0.74, 0.76, 0.78, 0.8, 0.82, 0.84].map((sure) => ({ sure, doubt: DOUBT })),
]);
console.log('people who are held out:');
print(model, held, [{ sure: SURE, doubt: DOUBT }]);

function print(by: Model, people: readonly Sentence[], thresholds: readonly Thresholds[]): void {
  for (const [index, measured] of measureEach(by, people, thresholds).entries()) {
    const { sure, doubt } = thresholds[index]!;
    const { heard, suppressed, precision, stopped, asked } = measured;
    console.log(
      `sure ${sure}, doubt ${doubt}: heard ${percent(heard)}, suppressed ${percent(suppressed)}, precision ${percent(precision)}, plain answers stopped ${percent(stopped)}, asked about ${percent(asked)}`,
    );
  }
}

function compressed(file: Buffer): Buffer {
  return brotliCompressSync(file, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });
}
