/** Names of months and weekdays in the languages away messages are read in, folded as `fold` does. */

const MONTH_NAMES: readonly string[] = [
  `january januar janner januari janvier janv enero ene gennaio gen janeiro stycznia styczen sty jan
    januari tammikuuta leden ledna января январь січня січень ocak`,
  `february februar feber februari fevrier fevr fev febrero febbraio febb fevereiro lutego luty lut febr feb
    februari helmikuuta unor unora февраля февраль лютого лютии subat`,
  `march marz mars marzo marco maart mrt marca marzec marcius marc mar
    marts mars maaliskuuta brezen brezna марта март березня березень mart`,
  `april avril avr abril abr aprile kwietnia kwiecien kwi aprilis apr
    huhtikuuta duben dubna апреля апрель квітня квітень nisan`,
  `may mai mayo maggio maio mei maja maj majus
    maj mai toukokuuta kveten kvetna мая маи травня травень mayıs mayis`,
  `june juni juin junio giugno giu junho czerwca czerwiec cze junius jun
    kesakuuta cerven cervna июня июнь червня червень haziran`,
  `july juli juillet juil julio luglio lug julho lipca lipiec lip julius jul
    heinakuuta cervenec cervence июля июль липня липень temmuz`,
  `august aout agosto augustus sierpnia sierpien augusztus aug
    augusti elokuuta srpen srpna августа август серпня серпень agustos`,
  `september septembre septiembre setiembre settembre sett setembro wrzesnia wrzesien wrz szeptember szept sept sep
    syyskuuta zari сентября сентябрь вересня вересень eylul`,
  `october oktober octobre octubre ottobre ott outubro pazdziernika pazdziernik paz okt oct
    lokakuuta rijen rijna октября октябрь жовтня жовтень ekim`,
  `november novembre noviembre novembro listopada listopad lis nov
    marraskuuta listopadu ноября ноябрь листопада листопад kasım kasim`,
  `december dezember decembre diciembre dicembre dezembro grudnia grudzien gru dez dic dec
    desember joulukuuta prosinec prosince декабря декабрь грудня грудень aralık aralik`,
];

const WEEKDAY_NAMES: readonly string[] = [
  `monday mon montag lundi lunes lunedi segunda-feira segunda maandag poniedzialek poniedzialku pon hetfon hetfo
    mandag maanantai maanantaina pondeli понедельник понеділок pazartesi`,
  `tuesday tues tue dienstag mardi martes martedi terca-feira terca dinsdag wtorek wtorku kedden kedd
    tirsdag tisdag tiistai tiistaina utery вторник вівторок salı sali`,
  `wednesday wed mittwoch mercredi miercoles mercoledi quarta-feira quarta woensdag sroda srode srody szerdan szerda
    onsdag keskiviikko keskiviikkona streda stredu среда среду середа середу carsamba`,
  `thursday thurs thur thu donnerstag jeudi jueves giovedi quinta-feira quinta donderdag czwartek czwartku csutortokon csutortok
    torsdag torstai torstaina ctvrtek четверг четвер persembe`,
  `friday fri freitag vendredi viernes venerdi sexta-feira sexta vrijdag piatek piatku penteken pentek
    fredag perjantai perjantaina patek пятница пятницу п'ятниця п'ятницю cuma`,
  `saturday sat samstag sonnabend samedi sabado sabato zaterdag sobota sobote szombaton szombat
    lørdag lordag lauantai lauantaina sobotu суббота субботу субота суботу cumartesi`,
  `sunday sun sonntag dimanche domingo domenica zondag niedziela niedziele vasarnap
    søndag sondag sunnuntai sunnuntaina nedele nedeli воскресенье воскресеньи неділя неділю pazar`,
];

function index(names: readonly string[]): ReadonlyMap<string, number> {
  return new Map(names.flatMap((line, at) => line.split(/\s+/).map((name) => [name, at + 1] as const)));
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
