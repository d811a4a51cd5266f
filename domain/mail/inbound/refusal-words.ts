import { anyOf } from './patterns.ts';

/**
 * This file contains the words with which servers refuse an email, by cause. They are matched against lower-case text
 * without addresses and links, which may contain such words by chance.
 */

/** Cause of a refusal, finer than its class. */
export type RefusalReason =
  | 'unknown_user'
  | 'not_in_directory'
  | 'unknown_domain'
  | 'moved'
  | 'refuses_all_mail'
  | 'full'
  | 'disabled'
  | 'slow'
  | 'unconfirmed'
  | 'spam'
  | 'size'
  | 'policy'
  | 'rate_limit'
  | 'suspended'
  | 'authentication'
  | 'not_verified'
  | 'reputation'
  | 'sender_refused'
  | 'connection'
  | 'configuration'
  | 'system'
  | 'unknown';

const WHO = String.raw`(?:user|recipient|mailbox|address|account|alias|person|e-?mail account|party|inbox)`;
const NOT = String.raw`(?:does not|doesn['’]t|do not|not|did not|don['’]t|no longer)`;

/** Words about limits and sanctions of the sending mailbox, and about its sign-in. */
const RATE_LIMIT = anyOf(
  [
    String.raw`(?:daily|hourly|per[- ](?:day|hour|minute)|sending|outbound|outgoing|relay|sender)[^.\n]{0,40}(?:limit|quota|rate)\b`,
    String.raw`(?:limit|quota|number)[^.\n]{0,40}(?:per (?:day|hour|minute)|messages? (?:sent|you)|sent (?:today|in))`,
    String.raw`(?:exceed(?:s|ed|ing)?|reached|over)[^.\n]{0,40}(?:sending|rate|message rate|messaging|daily|hourly|recipient) (?:limit|quota|rate)`,
    String.raw`too (?:many|much) (?:messages|mails?|e-?mails?|connections|sessions|recipients|requests|errors|simultaneous|concurrent|unknown|invalid)`,
    String.raw`rate[- ]?limit|throttl|too fast|slow down|sending (?:too|mail too)|unusual rate|unexpected volume`,
    String.raw`maximum number of (?:messages|connections|recipients|emails)|concurrent connections|flood|max(?:imum)? (?:e?-?mails?|messages|recipients|sending)[^.\n]{0,20}(?:per|rate)|(?:sending|message|maximum) (?:rate|credits) exceeded|message quota|frequency limit|unusual (?:sending|rate)|over (?:its|your|the) (?:sending )?rate|(?:daily|hourly) (?:max|allow)|sender thread limit`,
  ],
  'i',
);
const SUSPENDED = anyOf(
  [
    String.raw`(?:your|sender(?:'s)?|sending) (?:[a-z]+ )?(?:account|mailbox|domain|service)[^.\n]{0,40}(?:suspended|disabled|blocked|locked|deactivated|restricted|paused|limited)`,
    String.raw`(?:sending|outgoing|outbound)[^.\n]{0,30}(?:suspended|disabled|paused|restricted|not allowed)|suspicious activity`,
    String.raw`not (?:allowed|permitted|authori[sz]ed) to send(?! (?:to|e?-?mails? to) (?:this|the) (?:recipient|user|group|list))|you have been blocked`,
  ],
  'i',
);
const AUTHENTICATION = anyOf(
  [
    String.raw`authentication (?:is )?(?:required|failed|unsuccessful|failure|credentials|needed|rejected)|not authenticated`,
    String.raw`must (?:authenticate|issue a starttls|log ?in)|(?:username|credentials|password)[^.\n]{0,30}(?:invalid|incorrect|not accepted)`,
  ],
  'i',
);
const NOT_VERIFIED = anyOf(
  [
    String.raw`(?:address|sender|domain|identity|from|identities)[^.\n]{0,60}(?:not|un)[- ]?(?:been )?(?:verified|validated|confirmed)`,
  ],
  'i',
);
/** Words with which a recipient's server refuses the sender's address, name or network. */
const REPUTATION = anyOf(
  [
    String.raw`(?:black|block|deny) ?-?list|(?<!not )listed (?:at|by|in|on|as)\b|\brbl\b|dnsbl|spamhaus|spamcop|sorbs|barracuda|abuseat|senderbase`,
    String.raw`invalid dns|dns mx or a|reputation|blocked (?:using|by|for|due|because|-|from)|(?:is|are|been|was|were) (?:currently )?(?:blocked|banned)|has been blocked|\bbanned\b|access denied[^.\n]{0,30}(?:ip|host|sender)|dul\b|dynamic (?:ip|host|pool)|residential`,
    String.raw`\bptr\b|reverse[- ]?(?:dns|lookup|address|resolution|mapping|hostname)|\brdns\b|cannot find your (?:reverse )?hostname|find your hostname|(?:ip|host) (?:name|address) lookup|resolve your (?:host|ip|address)|invalid hostname|hostname[^.\n]{0,30}(?:not (?:resolve|match)|unresolv|does not)`,
    String.raw`\b(?:ip|host|server|client|connection|mta|domain|network|address)\b[^.\n]{0,60}(?:\bis\b|was|been|are)?[^.\n]{0,20}(?:blocked|banned|rejected due|refused due|suspicious|forbidden|not allowed|not permitted|not welcome)`,
    String.raw`(?:bad|poor|invalid|blocked|dynamic) (?:helo|ehlo|ip|host|client)|unknown (?:helo|ehlo|ip|client)|(?:helo|ehlo)[^.\n]{0,40}(?:reject|invalid|not|need|must|mismatch)|invalid ip|client host[^\n]{0,80}rejected|\bmail from [\d.]+ (?:rejected|refused|blocked)|messages from [\d.]+ were`,
    String.raw`\bspf\b|\bdkim\b|\bdmarc\b|\bdomainkeys?\b|unauthenticated|sender policy framework|sender id|fails? (?:to pass )?authentication|authentication checks`,
    String.raw`go away|not (?:currently )?accepting (?:mail from|connections)|no access from|nameserver query|smtp server of your isp|refused\W{1,4}see http|(?:mta|sender|server) (?:[a-z]+ ){0,4}(?:has )?not passed|open proxy|unwanted messages|(?:server|sender|mail server) requires confirmation|confirm this mail server|:blocked\)|your (?:access )?ip\b[^.\n]{0,40}rejected|no valid recipients? from|(?:part of|their) [^.\n]{0,20}network|bad sender ip|dnsbl:|ip profile|generic (?:dns )?ptr|veuillez essayer plus tard`,
    String.raw`(?:\bs3140|\b(?:sc|ou|dy|cs|tss?)-?0\d{1,2}\b|\b(?:ts|bl)\d{2}\b)`,
  ],
  'i',
);
/** Refusals of the sender's address: unknown, unroutable, unwanted. */
const SENDER_REFUSED = anyOf(
  [
    String.raw`(?:sender|return[- ]?path|mail[- ]?from|envelope[- ]?from|originator|reverse[- ]path|from address)\b[^.\n]{0,60}(?:reject|refus|denied|unknown|block|invalid|not (?:exist|accepted|found|allowed|valid|permitted)|does(?: not|n['’]t)|unrout|verif|unresolv|mismatch|must|malformed|required|misconfigured|fail|bad)`,
    String.raw`(?:unrout(?:e?able|able)|invalid|unknown|bad|forged|fake|rejected|no such|unverifiable|unresolvable|unauthori[sz]ed) (?:sender|from|return|envelope|originator)`,
    String.raw`sender (?:domain|address|verify|verification|is|not)|my name was rejected|domain of sender|your domain|you are not (?:allowed|authori[sz]ed|a member|permitted)|not accept(?:ed|ing)?[^.\n]{0,30} from (?:you|this|your)`,
    String.raw`only (?:accepts?|members|allowed|authori[sz]ed)[^.\n]{0,60}(?:from|senders?|post)|restricted[^.\n]{0,20}(?:sender|group|list)|from:? domain|invalid domain, see|mail from [^.\n]{0,60}(?:refused|not owned)|null sender|empty (?:envelope )?sender|batv|unsigned dsn|returned mail not accepted|third-party dsns|(?:[eé]metteur|exp[eé]diteur) invalide`,
  ],
  'i',
);

const FULL = anyOf(
  [
    String.raw`(?:mail ?box|inbox|account|user|recipient|folder|storage|maildir|home)[^.\n]{0,60}(?:\bfull\b|over[- ]?quota|out of (?:storage|space)|over (?:the |its )?(?:limit|quota|size)|exceed|too (?:large|big))`,
    String.raw`(?:over|exceed(?:s|ed|ing)?|insufficient|out of|not enough|no)[^.\n]{0,40}(?:quota|storage|disk ?space|space left|mail ?box size)`,
    String.raw`quota[^.\n]{0,30}(?:exceed|full|over|violat)|over ?quota|quotaexceeded|would (?:be )?over|bo[iî]te du destinataire pleine|enough (?:disk )?space|space has been used up|too much mail data|disk ?space quota|disc quota|exceeded the local limit|storage (?:space|limit)|mail ?box size|full mail ?box|disk (?:quota|full)|maximum (?:allowed )?(?:mail ?box|capacity)`,
  ],
  'i',
);
/** Failures of a program that should have delivered the email in the recipient's system. */
const PROGRAM =
  /command (?:died|failed|line|output)|exit (?:status|code)|\bpipe to\b|procmail|can(?:'t|not) (?:create|open|write|append)|\bmailer\b[^.\n]{0,30}(?:error|fail|unavail)|local configuration error|permission denied|i\/o error|internal (?:server )?error/i;
const SYSTEM_FULL = /system storage|(?:file ?system|server|system|queue)[^.\n]{0,20} full|insufficient system/i;
const DISABLED = anyOf(
  [
    String.raw`${WHO}[^.\n]{0,60}(?:disabled|suspended|temporary locked|archived|is terminated|no longer accepts (?:e-?)?mail|inactive|locked|deactivated|discontinued|on hold|not active|temporarily unavailable|expired|frozen|dormant|restricted|over limit)`,
    String.raw`(?:disabled|suspended|inactive|locked|deactivated|expired|archived) (?:user|mailbox|account|recipient|address)|destinataire archiv|\bis currently suspended|has been suspended|invalid\/inactive user|recipient suspend|refuses? to (?:accept|receive)|recipient preferences|user rules|only accepting mail from specific|recipient id refuse|is not accepting any mail|disableduser|not been used for|not logged in`,
    String.raw`mailbox (?:currently )?(?:is )?(?:unavailable|not available) (?:or|for|at|temporar)|delivery to this (?:user|mailbox|address) (?:is )?(?:restricted|refused)|account that you tried to reach is (?:disabled|inactive|over)`,
  ],
  'i',
);
const SLOW = anyOf(
  [
    String.raw`gr[ae]y ?-?list|try (?:again|later)|retry (?:later|time ?out)|temporar(?:y|ily)|deferred|resources? temporarily|busy|come back later|please retry`,
    String.raw`(?:delivery|retry|message|queue)[^.\n]{0,40}(?:time ?out|timed ?out|expired|exceeded|too long|timeout exceeded)|in (?:the )?queue too long|for too long|expired after|delivery time expired|aborted after`,
    String.raw`recipient[^.\n]{0,60}(?:receiving|getting)[^.\n]{0,40}(?:too|rate|quickly)|(?:retention|expiration) (?:time|period)|message expired|giving up after`,
  ],
  'i',
);

const SPAM = anyOf(
  [
    String.raw`\bspam|spam\b|\bjunk\b|\bbulk\b|unsolicited|\bube\b|\buce\b|phish|suspected|mcspam|anti-?spam|bayes|virus|malware|infected|trojan|worm\b|spamming|dangerous`,
    String.raw`(?:content|message|mail|e-?mail|body|subject|attachment|url|link|header)s?\b[^.\n]{0,60}(?:reject|refus|block|filter|not (?:accepted|allowed|permitted)|denied|banned|discard|looks like|contains?|prohibited|violat|forbidden|rejet)`,
    String.raw`(?:rejected|refused|blocked|denied|dropped|failed)[^.\n]{0,40}(?:content|body|attachment|filter|scan|rule|signature|as (?:spam|junk))|illegal attachment|executable|message content|rejected after DATA|considered`,
  ],
  'i',
);
/** Refusals of this message only, even if the text mentions blocking. */
const CONTENT =
  /blocked because (?:of )?its (?:content|attachment)|(?:message|mail) (?:was )?(?:rejected|refused|blocked) (?:due to|because of|for) (?:local|content|our|its|spam|unacceptable)/i;
/**
 * Block lists of senders and networks. Checked before {@link REFUSES_ALL_MAIL}, whose phrases also occur in greetings
 * that mention a block list.
 */
const LISTED = /(?:block|black|deny) ?-?list(?:s|ed)?\b|\bdnsbl\b|\brbl\b|spamhaus/i;
const SIZE = anyOf(
  [
    String.raw`(?:message|mail|e-?mail|size|line|header|attachment)s?\b[^.\n]{0,50}(?:too (?:large|big|long)|size (?:limit|exceed)|exceeds?|limit exceeded|larger than|over size|maximum (?:size|length|allowed))`,
    String.raw`(?:exceed(?:s|ed)?|maximum|larger|limit)[^.\n]{0,40}(?:message|mail|size|line)|size[- ]limit|too (?:large|big)|line limit`,
  ],
  'i',
);
const POLICY = anyOf(
  [
    String.raw`polic(?:y|ies)|prohibited|not (?:compliant|rfc)|rfc ?-?\d{3,4}|violat|administrative(?:ly)?|security|transaction failed|local (?:rule|filter)|denied by|restriction|restricted|not comply|non-compliant|unacceptable|permission|access denied|not accepted for|prohibit|duplicate header`,
  ],
  'i',
);

const CONNECTION = anyOf(
  [
    String.raw`lost connection|conversation with|(?:look-?up|hosts?)[^.\n]{0,20}(?:did not complete|failed temporarily|temporar)|connect(?:ion|ed|ing)?\b[^\n]{0,60}(?:time|refus|reset|lost|closed|drop|fail|broke|unsuccess|terminat|abort)|(?:could|can) ?n[o'’]t (?:be )?(?:connect|establish|contact|reach)|unable to (?:connect|contact|establish|reach)|did not accept our requests|time[d]? ?-?out|no route|unreachable|network`,
    String.raw`(?:temporary|transient|dns|name service|name ?server|soft)[^.\n]{0,30}(?:lookup|resolution|error|failure|problem)|servfail|responded with code|lookup[^.\n]{0,60}(?:timeout|fail|try again)|no (?:mail ?(?:server|exchanger)s?|such file)|host (?:is )?(?:down|not responding)|not respond|no answer|no response|service (?:currently )?(?:unavailable|not available)`,
  ],
  'i',
);
const CONFIGURATION = anyOf(
  [
    String.raw`\brelay|loop|hop count|too many hops|starttls|\btls\b|\bssl\b|certificate|syntax|protocol|bad sequence|need rcpt|need mail|command|unrecogni[sz]ed|not implemented|parameter|helo first|malformed|pipelining|local error|config|internal (?:server )?error|error in processing|aliasing|permission denied|cannot (?:append|open|write|create|update)|unable to (?:open|write|create)|procmail|\bpipe\b|command (?:died|failed|line)|mailer|exit (?:status|code)|i\/o error|input\/output|system error|system config|out of memory|mail system|program|gateway|no mail ?host|cannot be routed|not in (?:my )?(?:rcpthosts|control)|routing|queue (?:file )?(?:write|error)|could not be (?:processed|parsed)|utf-?8|smtputf8|8bitmime`,
  ],
  'i',
);

const MOVED = anyOf(
  [
    String.raw`(?:${WHO}|person|employee|owner of this|he|she|they)\b[^.\n]{0,60}(?:has|have|was|is)(?: been)? (?:moved|changed|replaced)\b|has been replaced by|(?:has|have) moved(?: to|,)|moved to (?:a |another )?(?:new|<)|new (?:e-?mail )?address(?: is)?|no longer (?:at|with) this (?:company|organi[sz]ation|address)|no forwarding address|user not local; please try|please (?:try|use) <|recipient no longer on server`,
  ],
  'i',
);
/** Words about a change of something other than the address. */
const OTHER_CHANGE =
  /(?:owner|priority|password|configuration|mx|record)s? (?:has|have|was) (?:been )?(?:moved|changed|replaced)/i;
const UNKNOWN_DOMAIN = anyOf(
  [
    String.raw`\b(?:host|domain|hostname)(?: or domain)?(?: name)?s?(?: [\w-]+(?:\.[\w-]+)+)?[^.\n:]{0,24}(?:unknown|not found|could not be found|couldn['’]t be found|not exist|does ?n[o'’]t exist|non-?existent|not (?:be )?resolve|isn['’]t valid|is invalid)|(?:unknown|no such|invalid|non-?existent|bad|illegal) (?:(?:destination|recipient|mail) )?(?:host|domain)\b(?! name of|, see)|nxdomain|(?:recipient |destination )?domain must exist|domain is not reachable|mail domain mentioned[^.\n]{0,40}unknown|remote domain does ?n['’]?t exist`,
    String.raw`unrout(?:e?able|able) (?:address|domain)|illegal host\/domain|point to non-existent|name or service not known|(?:cannot|can't|could(?:n['’]t| not)|unable to) find (?:any |an? |the )?(?:mx|hosts?\b|mail exchanger|mail server|domain)|not known in (?:the )?(?:dns|internet)|no mx (?:record|host)?s? ?(?:found )?for|no (?:mx|mail exchanger|a) records?|host found but no data record|(?:no|has no) valid mx|unable to (?:resolve|find) (?:the )?(?:mx|mail (?:host|server|exchanger)|domain)|no (?:mx|mail exchanger)s? or a|domain[^.\n]{0,30}(?:no longer|not) (?:registered|in service|hosted)|not a valid (?:internet )?domain`,
  ],
  'i',
);
const REFUSES_ALL_MAIL = anyOf(
  [
    String.raw`null ?mx|(?:host|domain|server|system|mx)\b[^.\n]{0,40}(?:${NOT}|never|is not) (?:accepts?|receives?|accepting|receiving)(?: any| network| incoming)* (?:mail|e-?mail|messages)(?! (?:from|with|contain|over|that|due|because|for|until|at th|right now|currently))|reject all mails?|no smtp service|smtp service (?:is )?not (?:offered|provided)|indicated no smtp|only listens?|accepts no mail|name server: \.: host not found`,
  ],
  'i',
);
/**
 * Matches an answer that says that the sender's domain accepts no mail. Answers about the recipient's domain are worded
 * similarly.
 */
const NO_WAY_BACK = /(?:sender|return|reverse-path|from|originator)[^.\n]{0,40}null ?mx/i;
/**
 * Matches an answer that says that one mailbox temporarily accepts no mail. A system that never accepts mail does not
 * match.
 */
const SWITCHED_OFF =
  /(?:mail ?box|account|user|inbox)(?: is| has been| was| are)? (?:currently |temporarily )?(?:disabled|suspended|inactive|deactivated|locked|frozen)/i;
/** Words about the user directory of the recipient's own system. Spam filters do not use these words. */
const NOT_IN_DIRECTORY = anyOf(
  [
    String.raw`not (?:listed|found|known) in (?:the |public |domino |our |this )*(?:name (?:& |and )address|address book|directory|domino)|recipient name is not recogni[sz]ed|(?:mail\.local|procmail|deliver|maildrop): unknown user|unknown user: |invalid final delivery userid|(?:unrecogni[sz]ed|unknown|invalid) (?:o\/r|originator\/recipient) (?:name|address)|no [^.\n]{1,80} in name directory|no se encuentra en el directorio|pertori[^.\n]{0,4} dans l['’]annuaire|(?:mail\.local|vdeliver): [^.\n]{0,60}(?:invalid mailbox path|unknown|user missing home directory)|invalid or unknown (?:virtual|base) user|cannot find system user|mailbox does ?n['’]t exist: `,
    String.raw`couldn['’]t be found or is unable to receive|because the address couldn['’]t be found|wasn['’]t found at|email address (?:you entered )?(?:couldn['’]t|could not) be found|recip(?:ient)?notfound|nosuchuser|no mailbox here by that name|user[^.\n]{0,60} not listed in|name was not found at the remote site|does not exist at the organization|address could not be found\. perhaps the recipient moved|recipient name[^.\n]{0,20} not (?:found|recogni[sz]ed)`,
    String.raw`requested action not taken: mailbox unavailable\W{0,3}(?:for explanation|invalid recipient)|requested mail action aborted, mailbox not found|\b000c05a6\b`,
  ],
  'i',
);
const UNKNOWN_USER = anyOf(
  [
    String.raw`user[^.\n;]{0,40}unknown|unknown (?:user|recipient|address|account|local[- ]part|mail ?box|e-?mail address|to address)|recipient (?:address )?(?:unknown|invalid|rejected: (?:unknown|undeliverable|user|no such|invalid|access denied|not found|.{0,20}not exist))|${WHO} rejected: .{0,30}unknown`,
    String.raw`no (?:such|valid(?! recipients? from)|matching)\b[^.\n]{0,20}(?:user|recipient|address|mail ?box|person|account|name|alias|mail drop|inbox)|no (?:mail ?box|user|account|one|record)[^.\n]{0,20}(?:here|by that name|with that|of that|found|there)`,
    String.raw`${WHO}s?\b[^.\n]{0,80}(?:not (?:be )?found|${NOT} (?:exists?|have|known|recogni[sz]ed|listed|hosted|valid|registered|receive|match)|unknown|wasn['’]t found|isn['’]t found|could ?n[o'’]t be found|non-?existent|invalid|gone|terminated|deleted|removed|closed|cancell?ed|no longer (?:available|in use|valid|active|exist|on|with|used|accept|work))`,
    String.raw`(?:invalid|bad|incorrect|non-?existent|nonexistent|undeliverable|wrong|illegal) (?:recipient|address|user|mail ?box|e-?mail|destination|local|rcpt|username)|not (?:a )?(?:valid|known|our) (?:user|recipient|mail ?box|address|customer|account|local)|is not a (?:valid )?(?:user|mailbox|known|local)|not (?:listed|found) in|not a member of|does ?n[o'’]t have an? [^.\n]{0,60}account|recipientnotfound|recipnotfound|nosuchuser|no longer (?:employed|with)`,
    String.raw`mail ?box (?:unavailable|not found|does ?n[o'’]t|disabled or)|requested action not taken: mailbox unavailable|unavailable or access denied|there is no (?:user|one|such|account|mailbox)|can ?n[o'’]?t (?:find|verify|resolve) (?:the )?(?:user|recipient|address|mailbox|account|alias)|does not exist|no mailbox|not our customer|recipient (?:is )?not in directory|(?:recipient|address|user) (?:can ?not|could not|can['’]t) be (?:verified|found|resolved)|does not live here|unable to (?:find|locate|verify) (?:the )?(?:user|recipient|mailbox|address)|non-local user`,
    String.raw`(?:utilisateur|destinataire|compte|bo[iî]te)[^.\n]{0,20} (?:inconnue?|invalide|inexistante?|n'existe pas)|adresse[^.\n]{0,30} (?:inconnue|invalide|inexistante|n'existe pas)`,
    String.raw`(?:empf[aä]nger|benutzer|nutzer|adresse|postfach|mailbox|konto)[^.\n]{0,30} (?:unbekannt|nicht (?:gefunden|bekannt|vorhanden|existent|g[uü]ltig)|existiert nicht|ung[uü]ltig)|unbekannte[rs]? (?:empf[aä]nger|benutzer|nutzer|adresse)|(?:kein|ung[uü]ltige[rs]?) (?:solcher |solches )?(?:empf[aä]nger|benutzer|nutzer|postfach)`,
    String.raw`(?:destinat[aá]ri[oa]|usu[aá]rio|utente|casella|buz[oó]n|cuenta|conta|caixa|indirizzo|endere[cç]o|direcci[oó]n)[^.\n]{0,30} (?:descono(?:cid[oa])|desconhecid[oa]|sconosciut[oa]|ine[sx]istente|no existe|n[aã]o existe|non esiste|inv[aá]lid[oa]|non valid[oa]|no encontrad[oa]|n[aã]o encontrad[oa]|non trovat[oa])|(?:gebruiker|ontvanger|postvak|adres)[^.\n]{0,20} (?:onbekend|bestaat niet|niet gevonden|ongeldig)|onbekende (?:gebruiker|ontvanger)`,
    String.raw`(?:nieznany|niepoprawny|nie ma takiego|brak (?:takiego )?) ?(?:u[zż]ytkownika?|adresata|odbiorc[ay]|konta)|(?:u[zż]ytkownik|adresat|odbiorca|konto|skrzynka)[^.\n]{0,20} nie istnieje|(?:пользовател|получател|адресат|ящик|абонент)[^.\n]{0,30}(?:не найден|не существует|не зарегистрирован|неизвест)|нет такого (?:пользовател|адрес|получател)|неизвестный (?:пользователь|получатель|адресат)|(?:mottagaren|modtageren|mottakeren|anv[aä]ndaren|brugeren)[^.\n]{0,20} (?:finns inte|findes ikke|finnes ikke|[aä]r ok[aä]nd|ukendt|ukjent)|(?:ok[aä]nd|ukendt|ukjent) (?:mottagare|modtager|mottaker|anv[aä]ndare|bruger)|tuntematon (?:vastaanottaja|k[aä]ytt[aä]j[aä])|nezn[aá]m[yý] (?:u[zž]ivatel|p[rř][ií]jemce)|ismeretlen (?:c[ií]mzett|felhaszn[aá]l[oó])|kullan[ıi]c[ıi] (?:bulunamad[ıi]|yok)|(?:宛先|ユーザ|メールアドレス|あて先)[^。\n]{0,30}(?:存在しま|見つかりま|ありません|不明)|(?:用户|用戶|收件人|邮箱|郵箱)[^。\n]{0,12}(?:不存在|无效|不正确)`,
    String.raw`(?:address|mailbox|account) (?:is )?not present|(?:can['’]t|cannot|does not|doesn['’]t) accept (?:user|recipient)|destination (?:addresses|server)[^.\n]{0,30}(?:unknown|rejected recipients)|(?:not|inactive|no) (?:an? )?(?:active )?(?:e-?mail )?address(?:es)? (?:at|on|here|in)|inactive e-?mail address|mail ?box is unavailable|mailbox unavaiable|account (?:is )?unavailable|not e-?mail addresses`,
    String.raw`recipient (?:is )?not (?:accepted|local|ok|found)|no(?:t)? (?:existing|existent) (?:user|recipient)|non existent user|bad(?:rcptto|recipientto)|validrcptto|(?:following )?recipients? (?:was|were|is) undeliverable|bad (?:destination )?(?:mailbox )?recipient|rcpt [(<][^.\n]{0,80}(?:does not|t) exist|> not found|(?:invalid|unknown) (?:virtual|base) user|unknown or illegal alias|missing home directory|no mail ?box available`,
    String.raw`nessun utente simile|no existe (?:dicha|ese|esa|el|la|este|esta) (?:persona|usuari[oa]|cuenta|destinatari[oa]|buz[oó]n)|adresse d['’ ]?au moins un destinataire invalide|(?:tal|tel|aucun) (?:usuario|utilisateur|destinataire)|invalid or unknown user`,
    // The text states only that the recipient was rejected, possibly with the domain.
    String.raw`(?:recipient|rcpt|mail ?box|user|address)(?: address)? (?:was |is |has been |got )?(?:rejected|refused|denied)(?::? [\w-]+(?:\.[\w-]+)+)?[\s.!()[\]"'<>-]*(?:\(state \d+\))?\W*$`,
    String.raw`(?:not|no) (?:a |an |the )?(?:such |valid |known |existing |real |local )+(?:${WHO}|recipients?|person|customer|employee|member|destination|login|subscriber|entry|object)|(?:unknown|invalid|illegal|unresolvable|non-?existent|obsolete|dead|bogus) (?:or (?:illegal|invalid|unknown) )?(?:${WHO}|alias|login|username|customer|subscriber|destination|rcpt|final delivery userid)`,
    String.raw`(?:person|employee|user|recipient|owner|customer|subscriber|he|she|addressee)[^.\n]{0,30} (?:has |have )?(?:left (?:the|our|this)|is no longer|no longer works?|quit|departed|moved on)|address[^.\n]{0,20}(?:retired|obsolete|decommissioned|abandoned|typo|misspelled)|hostname required|never heard of`,
  ],
  'i',
);

/** Refusals to relay, because another server handles the recipient's mail, or because we are not signed in. */
export const RELAY =
  /relay(?:ing)?[^.\n]{0,20}(?:denied|not (?:allowed|permitted)|prohibited|refused|rejected)|(?:unable|not permitted|not configured|not allowed|authentication) to relay|(?:does not|won't|no|not an open|insecure mail|as an?|mail) relay|relaying mail to|not a (?:registered )?gateway|not local host|(?:list of|in my) allowed rcpthosts?|do(?:es)?(?: not|n['’]t) handle mail for|non-local e-?mail address|specified domain is not allowed/i;

/** Codes that Facebook's mail servers write after the status. Each begins with an abbreviation of its topic. */
const FACEBOOK_POLICY = /\b(?:pol|con|msg|aut|spm|dns|blk|tls)-[pt]\d\b|\bint-p2\b/i;

/** Patterns by reason. If a server states several reasons, the first match decides. */
export const WORDS: readonly (readonly [RefusalReason, RegExp])[] = [
  ['policy', FACEBOOK_POLICY],
  ['not_verified', NOT_VERIFIED],
  ['rate_limit', RATE_LIMIT],
  ['suspended', SUSPENDED],
  ['authentication', AUTHENTICATION],
  ['system', SYSTEM_FULL],
  ['full', FULL],
  ['spam', CONTENT],
  ['reputation', LISTED],
  ['sender_refused', NO_WAY_BACK],
  ['disabled', SWITCHED_OFF],
  ['refuses_all_mail', REFUSES_ALL_MAIL],
  ['reputation', REPUTATION],
  ['sender_refused', SENDER_REFUSED],
  ['unconfirmed', OTHER_CHANGE],
  ['moved', MOVED],
  ['not_in_directory', NOT_IN_DIRECTORY],
  ['disabled', DISABLED],
  ['unknown_domain', UNKNOWN_DOMAIN],
  ['system', PROGRAM],
  ['unknown_user', UNKNOWN_USER],
  ['size', SIZE],
  ['configuration', RELAY],
  ['spam', SPAM],
  ['slow', SLOW],
  ['connection', CONNECTION],
  ['policy', POLICY],
  ['configuration', CONFIGURATION],
];
