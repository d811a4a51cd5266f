import type { ColumnMapping } from '../../../db/models/contact-import.ts';
import { parseAddresses } from '../../../lib/address.ts';
import { CONTACT_LIMITS, isCustomKey } from '../../directory/contact-fields.ts';
import { consentTarget } from './consent-headers.ts';
import { normalizedWords, signs, normalizedWordSet } from './header-words.ts';
import { CUSTOM } from './rows.ts';

/** Header names of the standard contact fields, as people and other tools write them. */
const SYNONYMS: readonly (readonly [target: string, names: ReadonlySet<string>])[] = Object.entries({
  email:
    'email|e mail|email address|e mail address|mail|work email|business email|primary email|contact email|email 1|e mail 1 value|email1|emailaddress|lead email|person email|person email work|recipient|correo|correo electrónico|email id|courriel|adresse e mail|adresse email|adresse mail|e mail adresse|mailadresse|emailadresse|indirizzo e mail|indirizzo email|posta elettronica|endereço de e mail|endereço de email|emailadres|e mailadres|epost|e post|e postadress|epostadress|e postadresse|epostadresse|sähköposti|sähköpostiosoite|adres e mail|adres email|e mailová adresa|emailová adresa|e mail cím|email cím|adresă de e mail|adresa e pošte|имейл|имейл адрес|ел поща|эл почта|электронная почта|почта|адрес электронной почты|емейл|е мейл|электронный адрес|електронна пошта|ел пошта|ηλεκτρονικό ταχυδρομείο|ηλ ταχυδρομείο|e posta|eposta|e posta adresi|البريد الإلكتروني|البريد الالكتروني|بريد إلكتروني|אימייל|דוא ל|דואר אלקטרוני|ईमेल|ईमेल पता|alamat email|surel|địa chỉ email|thư điện tử|อีเมล|メール|メールアドレス|電子メール|eメール|이메일|이메일 주소|메일|메일주소|邮箱|邮件|电子邮件|邮箱地址|电子邮箱|郵箱|電子郵件|電郵|信箱',
  first_name:
    'first name|first|firstname|given name|givenname|forename|fname|contact first name|person first name|lead first name|vorname|prénom|prenom|nombre|nombre de pila|nome|primeiro nome|primo nome|nome di battesimo|voornaam|förnamn|fornavn|etunimi|imię|křestní jméno|jméno|krstné meno|meno|keresztnév|utónév|prenume|ime|собствено име|първо име|имя|ім’я|όνομα|ad|isim|adı|الاسم الأول|الاسم الاول|שם פרטי|पहला नाम|प्रथम नाम|nama depan|tên|ชื่อ|ชื่อจริง|名|下の名前|이름|名字',
  last_name:
    'last name|last|lastname|surname|family name|familyname|lname|contact last name|person last name|lead last name|nachname|familienname|zuname|nom|nom de famille|apellido|apellidos|cognome|sobrenome|apelido|último nome|achternaam|familienaam|efternamn|etternavn|efternavn|sukunimi|nazwisko|příjmení|priezvisko|vezetéknév|családnév|nume de familie|nume|prezime|фамилия|фамилно име|прізвище|επώνυμο|επίθετο|soyadı|soyad|soyisim|اسم العائلة|الاسم الأخير|الاسم الاخير|שם משפחה|उपनाम|अंतिम नाम|कुलनाम|nama belakang|họ|นามสกุล|姓|名字|성|姓氏',
  company:
    'company|company name|companyname|organization|organisation|organization name|organization 1 name|organisation name|account|account name|employer|business name|firma|firmenname|unternehmen|betrieb|entreprise|société|nom de l’entreprise|empresa|compañía|organización|nombre de la empresa|azienda|società|ragione sociale|nome azienda|nome da empresa|companhia|organização|bedrijf|bedrijfsnaam|organisatie|företag|företagsnamn|bedrift|selskap|firmanavn|virksomhed|yritys|yrityksen nimi|nazwa firmy|przedsiębiorstwo|společnost|název firmy|spoločnosť|názov firmy|cég|cégnév|vállalat|companie|firmă|compania|tvrtka|naziv tvrtke|poduzeće|фирма|компания|организация|компанія|організація|назва компанії|название компании|εταιρεία|εταιρία|επωνυμία|şirket|şirket adı|الشركة|اسم الشركة|חברה|שם החברה|कंपनी|कंपनी का नाम|संगठन|perusahaan|nama perusahaan|công ty|tên công ty|บริษัท|ชื่อบริษัท|会社|会社名|企業名|法人名|회사|회사명|기업명|公司|公司名称|单位|企业|公司名稱|企業',
  phone:
    'phone|phone number|phonenumber|mobile|mobile phone|mobile number|telephone|tel|cell|cell phone|cellphone|work phone|business phone|primary phone|contact phone|phone 1 value|person phone|person phone work|telefon|telefon geschäftlich|telefon (geschäftlich)|telefon firma|telefonnummer|rufnummer|mobiltelefon|handy|handynummer|mobil|mobilnummer|téléphone|téléphone (bureau)|téléphone bureau|téléphone professionnel|téléphone mobile|tél mobile|portable|numéro de téléphone|teléfono|teléfono del trabajo|teléfono móvil|móvil|celular|telefono|telefono ufficio|telefono lavoro|cellulare|numero di telefono|telefone|telemóvel|número de telefone|telefoon|telefoonnummer|mobiel|telefonnumber|puhelin|puhelinnumero|numer telefonu|telefonní číslo|telefónne číslo|telefonszám|număr de telefon|broj telefona|телефон|номер телефона|номер телефону|мобильный|τηλέφωνο|κινητό|telefon numarası|cep telefonu|الهاتف|رقم الهاتف|جوال|טלפון|נייד|फ़ोन|फोन|फ़ोन नंबर|मोबाइल|telepon|nomor telepon|điện thoại|số điện thoại|โทรศัพท์|เบอร์โทร|เบอร์โทรศัพท์|電話|電話番号|携帯電話|전화|전화번호|휴대폰|휴대전화|电话|电话号码|手机|手机号|電話號碼|手機',
  categories:
    'categories|category|tags|tag|labels|label|group membership|groups|lists|kategorien|kategorie|schlagwörter|catégories|étiquettes|categorías|etiquetas|categorie|etichette|categorias|categorieën|kategorier|kategoriat|kategorie|kategórie|címkék|categorii|kategorije|категории|теги|категорії|κατηγορίες|kategoriler|etiketler|الفئات|קטגוריות|श्रेणियाँ|kategori|danh mục|หมวดหมู่|カテゴリ|タグ|카테고리|태그|类别|标签|分類|標籤',
}).map(([target, names]) => [target, normalizedWordSet(names)] as const);

/** Words that occur within headers of columns with email addresses. */
const speaksOfEmail = signs(
  'email|e mail|mail|correo|courriel|posta elettronica|epost|e post|sahkoposti|eposta|e posta|имейл|почт|емейл|пошт|ηλεκτρονικο ταχυδρομ|البريد|بريد|אימייל|דואל|ईमेल|surel|thư điện tử|อีเมล|メール|이메일|메일|邮箱|邮件|郵箱|郵件|電郵',
);
/**
 * Pattern for headers of columns with the addresses of colleagues. A second pattern is for columns with data about an
 * address.
 */
const OF_ANOTHER =
  /\b(?:owner|manager|assigned|assignee|assignment|sender|sent by|from|creator|created|modified|updated|account executive|rep|recruiter|referr\w*|besitzer|zustandig\w*|betreuer|inhaber|bearbeiter|proprietaire|propietario|proprietario|ответственн\w*)\b/;
const ABOUT_ADDRESS =
  /\b(?:type|typ|label|status|domain|provider|host|score|count|date|time|open\w*|click\w*|sent|repl\w*|verif\w*|confidence|quality|source|template|subject|body|signature|activity)\b/;

/**
 * Columns of Heron's own export that are computed. An import ignores them, because the contact fields have their own
 * columns.
 */
const REPORTED = new Set([
  'id',
  'company_domain',
  'job_title',
  'seniority',
  'department',
  'esp_provider',
  'verification_status',
  'outreach_status',
  'campaigns',
  'emails_received',
  'last_contacted_at',
  'last_replied_at',
  'created_at',
]);
/** Columns that problems.csv has in addition to the columns of the file. */
export const PROBLEM_COLUMNS: readonly string[] = ['import_line', 'import_reason', 'import_surplus'];
/** Two columns that identify a file as Heron's own export. */
const OWN = ['outreach_status', 'verification_status'];

/** Returns the column names: those of the header, or `Column <n>` for an empty cell. */
export function columnNames(header: readonly string[]): string[] {
  return header.map((cell, index) => cell.trim() || `Column ${index + 1}`);
}

interface Sample {
  hasHeader: boolean;
  sample: readonly (readonly string[])[];
}

/**
 * Suggests a target for each column. Known fields are found by their usual names, the address by name and content, and
 * permission columns by their header. Every other column with a header becomes a custom field, up to the limit of a
 * contact.
 */
export function suggestMapping(columns: readonly string[], { hasHeader, sample }: Sample): ColumnMapping[] {
  const headers = columns.map((column) => (hasHeader ? column.trim() : ''));
  const isOwn = OWN.every((name) => headers.includes(name));
  const email = emailColumn(headers, sample);
  const taken = new Set(email === -1 ? [] : ['email']);
  const custom = customKeys();
  const named = new Set(headers.map(normalizedWords));
  return headers.map((header, index): ColumnMapping => {
    if (index === email) return { index, target: 'email' };
    const plain = normalizedWords(header);
    if (header === '' || (isOwn && REPORTED.has(header)) || PROBLEM_COLUMNS.includes(header))
      return { index, target: 'ignore' };
    if (header.startsWith(CUSTOM)) return { index, target: custom(header.slice(CUSTOM.length)) };
    const consent = consentTarget(header);
    if (consent && (consent !== 'subscribed' || !taken.has(consent))) {
      taken.add(consent);
      return { index, target: consent };
    }
    const known =
      fieldNamed(plain, taken) ?? (named.has(shortName(header)) ? undefined : fieldNamed(shortName(header), taken));
    if (known === undefined) return { index, target: custom(keyOf(header) || `column_${index + 1}`) };
    taken.add(known);
    return { index, target: known };
  });
}

/** Returns the standard field with this usual name, unless another column has it. The address is found separately. */
function fieldNamed(name: string, taken: ReadonlySet<string>): string | undefined {
  return SYNONYMS.find(([target, names]) => target !== 'email' && names.has(name) && !taken.has(target))?.[0];
}

/** Returns a header without what tools and forms add: the table's name before it, and a remark in brackets. */
function shortName(header: string): string {
  const plain = normalizedWords(header.replace(/[([{*].*$/s, ''));
  return plain.replace(/^(?:contact|lead|person|people|prospect|customer|user|properties|kontakt|kunde) /, '');
}

/** Converts a header to a key that templates can use. */
function keyOf(header: string): string {
  return header
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, '_')
    .replace(/^_+|_+$/g, '');
}

/** Returns a function that gives each column a unique key. Long keys are shortened, repeated keys get a number. */
function customKeys(): (key: string) => string {
  const taken = new Set<string>();
  return (wanted) => {
    if (wanted === '' || taken.size >= CONTACT_LIMITS.customFields) return 'ignore';
    for (let number = 1; ; number += 1) {
      const end = number === 1 ? '' : `_${number}`;
      const key = `${cut(wanted, CONTACT_LIMITS.customKey - end.length)}${end}`;
      if (taken.has(key)) continue;
      if (!isCustomKey(key)) return 'ignore';
      taken.add(key);
      return `${CUSTOM}${key}`;
    }
  };
}

function cut(text: string, length: number): string {
  return text.slice(0, length).replace(/(?:[\ud800-\udbff]|_)+$/, '');
}

/**
 * Returns the index of the column with the addresses of the people, or -1. Checks name and cells first, then cells
 * alone, because the name may be in any language. Skips a column that repeats one address, which probably belongs to a
 * colleague.
 */
function emailColumn(headers: readonly string[], sample: readonly (readonly string[])[]): number {
  let best = -1;
  let bestScore = 0;
  headers.forEach((header, index) => {
    const plain = normalizedWords(header);
    const cells = sample.map((row) => row[index]?.trim() ?? '').filter(Boolean);
    const addresses = cells.flatMap((cell) => parseAddresses(cell).slice(0, 1));
    const share = cells.length === 0 ? 0 : addresses.length / cells.length;
    const named = nameScore(plain);
    if (named === 0 && share === 0) return;
    if (consentTarget(header) !== undefined && share === 0) return;
    const repeats = addresses.length > 3 && new Set(addresses).size <= addresses.length / 3;
    const foreign = OF_ANOTHER.test(plain) || repeats ? 3 : 0;
    const lacking = cells.length > 0 && share === 0 ? 2.5 : 0;
    const score = named + 3 * share + Math.min(1, cells.length / Math.max(1, sample.length)) / 2 - foreign - lacking;
    if (score > bestScore) [best, bestScore] = [index, score];
  });
  return best;
}

function nameScore(plain: string): number {
  if (plain !== '' && SYNONYMS[0]![1].has(plain)) return 3;
  return speaksOfEmail(plain) && !ABOUT_ADDRESS.test(plain) ? 1.5 : 0;
}

/** Returns true if a cell is the header of an address column. A title above the header is not. */
export function namesAddresses(cell: string): boolean {
  return nameScore(normalizedWords(cell)) > 0;
}
