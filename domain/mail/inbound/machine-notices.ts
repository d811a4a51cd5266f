import { fold } from './fold.ts';
import type { InboundMessage } from './parse.ts';
import { anyOf } from './patterns.ts';

/** Maximum length (words) of a notice, and of a person's reply that resembles a notice. */
const MAX_WORDS = 120;
const NO_REPLY =
  /^(?:no|do-?not|dont|nicht|keine?|ne-?pas|non|nao)[-._]?(?:reply|repondre|antworten?|respond(?:er|a)?|rispondere|responda)\b/;

/** Phrases which say that nobody reads the address any more. Matched against folded text (fold.ts). */
const GIVEN_UP = anyOf(
  [
    String.raw`(?:mail ?box|inbox|account|address|e-?mail)[^.!?\n]{0,40} (?:is|are) (?:not|no longer|un)\s?(?:being |regularly )?(?:monitored|checked|read|in use|active|used|valid|attended)`,
    String.raw`(?:adresse|postfach|mail-?konto|mailbox)[^.!?\n]{0,40} (?:wird|ist|werden)(?: derzeit| leider)? nicht(?: mehr)? (?:verwendet|genutzt|benutzt|gelesen|abgerufen|uberwacht|aktiv|gultig|erreichbar|betreut|bearbeitet)`,
    String.raw`(?:adresse|boite|messagerie)[^.!?\n]{0,40} n'est (?:plus|pas) (?:utilisee|valide|active|surveillee|consultee|relevee|lue)`,
    String.raw`(?:direccion|buzon|cuenta|correo)[^.!?\n]{0,40} (?:ya )?no (?:esta|es|se) [^.!?\n]{0,15}(?:activ|supervis|valid|uso|utiliza|operativ|servicio|atendid)`,
    String.raw`(?:indirizzo|casella)[^.!?\n]{0,40} non (?:e|viene)(?: piu)? [^.!?\n]{0,15}(?:attiv|utilizzat|uso|monitorat|presidiat|lett|valid)`,
    String.raw`(?:endereco|caixa|conta|e-?mail)[^.!?\n]{0,40} (?:ja )?nao (?:esta|e|se) [^.!?\n]{0,15}(?:ativ|monitorad|valid|uso|utilizad)`,
    String.raw`(?:adres|mailbox|postvak)[^.!?\n]{0,40} (?:wordt|is) (?:niet|niet meer|niet langer) (?:gebruikt|gelezen|actief|in gebruik|gecontroleerd|geldig)`,
    String.raw`(?:adres|skrzynka|konto)[^.!?\n]{0,40} (?:nie jest|jest juz nie|nie jest juz) (?:juz )?(?:uzywan|aktywn|monitorowan|sprawdzan|obslugiwan)`,
  ],
  'u',
);
/** Sentences that programs write into automatic mail. Matched against folded text (fold.ts). */
const BY_ITSELF = anyOf(
  [
    String.raw`(?:please )?do not (?:reply|respond) to this (?:e-?mail|message|address)|this is an? (?:automated|automatic|auto-generated) (?:e-?mail|message|reply|response|notification)`,
    String.raw`antworten sie (?:bitte )?nicht auf diese|(?:nachricht|e-?mail|mail) (?:wurde|wird) automatisch (?:erstellt|generiert|erzeugt|versendet|verschickt)`,
    String.raw`(?:merci de|veuillez) ne pas repondre a ce|ceci est un (?:message|e-?mail|courriel) automatique`,
    String.raw`no responda a este (?:correo|mensaje)|(?:este|esto) es un (?:mensaje|correo) automatico|non rispondere a quest[ao]|(?:messaggio|e-?mail) (?:e stat[oa] )?generat[oa] automaticamente`,
    String.raw`nao responda a est[ae]|(?:deze|dit) [^.!?\n]{0,20} is automatisch (?:gegenereerd|verzonden)|prosimy nie odpowiadac na`,
  ],
  'u',
);
/** Phrases of a gateway that holds back our message. Matched against folded text (fold.ts). */
const HELD = anyOf(
  [
    String.raw`your (?:message|e-?mail|mail)(?:[^.!?\n]|\.(?=\S)){0,80} (?:has been|was|is|will be) (?:being |currently )?(?:held|quarantined|placed (?:in|into) quarantine|queued for review|blocked pending)`,
    String.raw`ihre (?:nachricht|e-?mail|mail)(?:[^.!?\n]|\.(?=\S)){0,80} (?:zuruckgehalten|in (?:die )?quarantane|zur prufung)`,
    String.raw`votre (?:message|e-?mail|courriel)(?:[^.!?\n]|\.(?=\S)){0,80} (?:retenu|(?:en|mis en) quarantaine)|su (?:mensaje|correo)(?:[^.!?\n]|\.(?=\S)){0,80} (?:retenido|(?:en|puesto en) cuarentena)`,
    String.raw`(?:il (?:suo|tuo) )?(?:messaggio|e-?mail)(?:[^.!?\n]|\.(?=\S)){0,80} (?:trattenut|in quarantena)|sua mensagem(?:[^.!?\n]|\.(?=\S)){0,80} (?:retida|em quarentena)|uw (?:bericht|e-?mail)(?:[^.!?\n]|\.(?=\S)){0,80} (?:vastgehouden|in quarantaine)`,
  ],
  'u',
);

/** Phrases about an address that has moved. Matched against folded text (fold.ts). */
const MOVED = anyOf(
  [
    String.raw`(?:this|my|our|the) (?:e-?mail )?(?:account|mail ?box|address|inbox) has (?:been )?(?:moved|changed|closed|deactivated|replaced|retired|discontinued)`,
    String.raw`(?:e-?mail-?)?adresse hat sich geandert|adresse (?:a change|est desormais)|(?:direccion|correo) ha cambiado|indirizzo e cambiato|endereco (?:mudou|foi alterado)|adres is gewijzigd`,
  ],
  'u',
);

/**
 * Returns true if a message without machine headers is nevertheless an automatic notice. Such a notice is short, and
 * has phrases of programs or comes from a no-reply address.
 * @param hasLeft returns true if a folded sentence states that somebody has left
 */
export function isMachineNotice(
  message: InboundMessage,
  words: string,
  hasLeft: (sentence: string) => boolean,
): boolean {
  if (words === '' || words.split(/\s+/, MAX_WORDS + 1).length > MAX_WORDS) return false;
  const local = (message.from ?? '').split('@', 1)[0] ?? '';
  if (NO_REPLY.test(local)) return true;
  if (/[?？]/.test(words)) return false;
  const text = fold(words);
  if ([GIVEN_UP, BY_ITSELF, HELD, MOVED].some((notice) => notice.test(text))) return true;
  // A sentence that names the sender and says that this person has left was written by a program, because people write
  // "I".
  const names = fold(message.fromName).match(/\p{L}{3,}/gu) ?? [];
  return text.split(/[.!\n。]/).some((sentence) => names.some((name) => sentence.includes(name)) && hasLeft(sentence));
}
