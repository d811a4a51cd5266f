/** Error values that have neither `!` nor `?`, in the languages of Excel, LibreOffice and Google Sheets. */
const WITHOUT_SIGN = new Set(
  '#N/A|#NV|#N/D|#ND|#N/B|#N/V|#I/T|#NA|#YOK|#Н/Д|#Δ/Υ|#HIÁNYZIK|#NENÍ_K_DISPOZICI|#GETTING_DATA|#WIRD_GELADEN|#ERROR'.split(
    '|',
  ),
);
const WITH_SIGN = /^#[¡¿]?\p{Lu}[\p{Lu}\d/_]*[!?]$/u;
const LIBRE_OFFICE =
  /^(?:Err|Fehler|Erreur|Errore|Erro|Fout|Fel|Feil|Fejl|Virhe|Błąd|Chyba|Hiba|Ошибка|Error):\s?5\d\d$/i;

/** Returns true for the text of a failed formula, such as `#N/A` or `#BEZUG!`, which must not appear in an email. */
export function isSpreadsheetError(text: string): boolean {
  if (text.charCodeAt(0) === HASH) return WITHOUT_SIGN.has(text) || WITH_SIGN.test(text);
  return text.length < 14 && text.includes(':') && LIBRE_OFFICE.test(text);
}

const HASH = 35;
