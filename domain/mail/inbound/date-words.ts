/** Names of months and weekdays in the languages away messages are read in, folded as `fold` does. */

const MONTH_NAMES: readonly string[] = [
  'january januar janner januari janvier janv enero ene gennaio gen janeiro stycznia styczen sty jan',
  'february februar feber februari fevrier fevr fev febrero febbraio febb fevereiro lutego luty lut febr feb',
  'march marz mars marzo marco maart mrt marca marzec marcius marc mar',
  'april avril avr abril abr aprile kwietnia kwiecien kwi aprilis apr',
  'may mai mayo maggio maio mei maja maj majus',
  'june juni juin junio giugno giu junho czerwca czerwiec cze junius jun',
  'july juli juillet juil julio luglio lug julho lipca lipiec lip julius jul',
  'august aout agosto augustus sierpnia sierpien augusztus aug',
  'september septembre septiembre setiembre settembre sett setembro ' +
    'wrzesnia wrzesien wrz szeptember szept sept sep',
  'october oktober octobre octubre ottobre ott outubro pazdziernika pazdziernik paz okt oct',
  'november novembre noviembre novembro listopada listopad lis nov',
  'december dezember decembre diciembre dicembre dezembro grudnia grudzien gru dez dic dec',
];

const WEEKDAY_NAMES: readonly string[] = [
  'monday mon montag lundi lunes lunedi segunda-feira segunda ' + 'maandag poniedzialek poniedzialku pon hetfon hetfo',
  'tuesday tues tue dienstag mardi martes martedi terca-feira terca dinsdag wtorek wtorku kedden kedd',
  'wednesday wed mittwoch mercredi miercoles mercoledi quarta-feira quarta ' +
    'woensdag sroda srode srody szerdan szerda',
  'thursday thurs thur thu donnerstag jeudi jueves giovedi quinta-feira quinta ' +
    'donderdag czwartek czwartku csutortokon csutortok',
  'friday fri freitag vendredi viernes venerdi sexta-feira sexta vrijdag piatek piatku penteken pentek',
  'saturday sat samstag sonnabend samedi sabado sabato zaterdag sobota sobote szombaton szombat',
  'sunday sun sonntag dimanche domingo domenica zondag niedziela niedziele vasarnap',
];

function index(names: readonly string[]): ReadonlyMap<string, number> {
  return new Map(names.flatMap((line, at) => line.split(' ').map((name) => [name, at + 1] as const)));
}

function alternatives(words: Iterable<string>): string {
  return [...words].sort((a, b) => b.length - a.length).join('|');
}

/** Folded month name to its number, 1 to 12. */
export const MONTHS = index(MONTH_NAMES);
/** Folded weekday name to its ISO number, 1 (Monday) to 7. */
export const WEEKDAYS = index(WEEKDAY_NAMES);
/** The names as regular expression alternatives, longest first. */
export const MONTH_PATTERN = alternatives(MONTHS.keys());
export const WEEKDAY_PATTERN = alternatives(WEEKDAYS.keys());
