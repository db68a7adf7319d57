import type { Texts } from './en.js'

/** What the runner says, in German. */
export const de: Texts = {
  help: `Aufruf: {program} [BEFEHL]

  (keiner)               eine Aufgabe aus einem Menü wählen; ohne Terminal die Liste ausgeben
  list                   alle Aufgaben auflisten und zeigen, welche gelöst sind
  select NAME|NUMMER     eine Aufgabe zeigen und ihre Vorlage im aktuellen Verzeichnis anlegen
  next                   die nächste Aufgabe wählen, die nicht gelöst ist
  print                  die gewählte Aufgabe noch einmal zeigen
  run [DATEI] [ARGUMENT…]
                         dein Programm mit einem Beispiel ausführen und zeigen, was es tut
  verify [DATEI]         dein Programm prüfen
  hint                   einen weiteren Hinweis zeigen
  solution               unsere Lösung zeigen, sobald du die Aufgabe gelöst hast; mit --anyway schon vorher
  status                 deinen Fortschritt zeigen
  language [KÜRZEL]      die Sprachen zeigen oder eine wählen
  reset                  den Fortschritt löschen; deine Dateien bleiben
  help, version

Ohne DATEI verwenden run und verify die Datei, die select angelegt hat.

  --seed ZAHL            mit den Zufallszahlen eines früheren Laufs prüfen
  --language KÜRZEL      diese Sprache nur für diesen Lauf verwenden

Exit-Codes: 0 fertig, 1 nicht angenommen, 2 falscher Befehl, 3 Fehler im Workshop selbst.`,
  'unknown-command': 'Den Befehl „{command}“ gibt es nicht. help zeigt alle Befehle.',
  'too-many': '„{argument}“ ist ein Argument zu viel.',
  'not-a-number': '--{option} muss eine ganze Zahl von 0 bis 4294967295 sein.',
  'no-exercise': 'Die Aufgabe „{name}“ gibt es nicht. list zeigt alle Aufgaben.',
  'select-first': 'Es ist keine Aufgabe gewählt. select NAME wählt eine; list zeigt alle.',
  'name-missing': 'Welche Aufgabe? select NAME oder select NUMMER; list zeigt alle.',
  'starter-made': 'Deine Vorlage: {file}. Danach: {program} verify {file}',
  'starter-kept':
    '{file} existiert bereits und wurde nicht geändert. Um neu zu beginnen, lösche es oder benenne es um.',
  'already-solved': 'Diese Aufgabe hast du schon gelöst.',
  'no-file': '{file} existiert nicht. select legt die Datei an, oder gib deine an: verify DATEI.',
  'no-entry': '{file} ist ein Verzeichnis ohne eine Datei namens index, zum Beispiel index.mjs.',
  accepted: 'Angenommen: {title} ist gelöst.',
  'next-is': 'Weiter: {program} next',
  'all-solved': 'Du hast alle Aufgaben gelöst. Herzlichen Glückwunsch!',
  refused: 'Noch nicht.',
  'seed-was': 'Seed: {seed}. --seed {seed} prüft mit denselben Zufallszahlen.',
  'program-printed': 'Ausgabe deines Programms:',
  'no-hint': 'Zu dieser Aufgabe gibt es keinen Hinweis.',
  'hint-number': 'Hinweis {number} von {count}',
  'no-more-hints': 'Das war der letzte Hinweis.',
  'solution-later':
    'Die Lösung wird gezeigt, sobald du die Aufgabe gelöst hast. Mit --anyway siehst du sie jetzt schon.',
  'status-line': '{solved} von {count} gelöst. Gewählt: {selected}.',
  'none-selected': 'keine',
  'reset-done': 'Der Fortschritt ist gelöscht. Deine Dateien sind unverändert.',
  'language-set': 'Die Sprache ist jetzt {language}.',
  'language-list': 'Sprachen: {languages}. Aktuell: {language}.',
  'no-language': 'Die Sprache „{language}“ gibt es nicht. Verfügbar sind: {languages}.',
  'menu-keys': 'Pfeiltasten oder eine Nummer, dann Enter. q beendet.',
  'progress-damaged':
    'Dein Fortschritt war nicht lesbar. Er wurde in {file} umbenannt; der Workshop beginnt von vorn.',
  'progress-newer':
    'Dein Fortschritt stammt von einer neueren Version. Er wurde in {file} umbenannt; aktualisiere den Workshop und benenne die Datei dann zurück.',
  'timed-out':
    'Dein Programm war nach {seconds} s nicht fertig und wurde beendet. Wartet es auf etwas, oder läuft eine Endlosschleife?',
  'too-much-output': 'Dein Programm hat mehr als {count} Bytes ausgegeben und wurde beendet.',
  'write-refused':
    'Dein Programm wollte nach {path} schreiben. Es darf nur in das Verzeichnis schreiben, in dem es läuft.',
  'child-refused': 'Dein Programm wollte ein anderes Programm starten. Diese Aufgabe erlaubt das nicht.',
  'worker-refused': 'Dein Programm wollte einen Worker starten. Diese Aufgabe erlaubt das nicht.',
  'other-refused': 'Dein Programm wollte etwas tun, was diese Aufgabe nicht erlaubt: {permission}.',
  'ended-with-code': 'Dein Programm endete mit dem Exit-Code {code}.',
  'ended-by-signal': 'Dein Programm wurde durch das Signal {signal} beendet.',
  'call-threw': 'Deine Funktion hat einen Fehler geworfen.',
  'call-unloadable': 'Dein Modul ließ sich nicht laden oder endete mit einem Fehler.',
  'call-never-settled': 'Deine Funktion wurde nie fertig: Es gab nichts mehr, worauf sie warten konnte.',
  'call-exited':
    'Dein Modul hat den Prozess mit dem Exit-Code {code} beendet, bevor deine Funktion fertig war.',
  'call-no-function': 'Dein Modul muss eine Funktion als {name} exportieren. Es exportiert: {found}.',
  'call-not-sendable': 'Was deine Funktion zurückgegeben hat, lässt sich nicht vergleichen: {message}',
  nothing: 'nichts',
  'check-too-long': 'Die Prüfung war nach {seconds} s nicht fertig.',
  'check-failed': 'Die Prüfung konnte nicht bis zum Ende mit deinem Programm kommunizieren.',
  'expected-value': 'erwartet',
  'actual-value': 'erhalten',
  'difference-at': 'Der erste Unterschied ist in Zeile {line}:',
  'not-equal': 'Das Ergebnis ist nicht das erwartete.',
  'returned-value': 'Deine Funktion hat zurückgegeben:',
  'observed-value': 'Das hat deine Funktion getan:',
  'files-written': 'Dein Programm hat geschrieben:',
  'workshop-wrong':
    'Der Workshop selbst ist fehlerhaft; an dir liegt es nicht. Bitte melde das seinen Autoren:'
}
