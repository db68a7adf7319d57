import type { Texts } from './en.js'

/** What the runner says, in German. */
export const de: Texts = {
  help: `Aufruf: {program} [BEFEHL]

  (keiner)               eine Aufgabe aus einem Menü wählen; ohne Terminal erscheint die Liste
  list                   die Aufgaben, und welche gelöst sind
  select NAME|NUMMER     eine Aufgabe zeigen und ihre Vorlage in das aktuelle Verzeichnis legen
  next                   die nächste Aufgabe wählen, die nicht gelöst ist
  print                  die gewählte Aufgabe noch einmal zeigen
  run [DATEI] [ARGUMENT…]
                         dein Programm mit einem Beispiel laufen lassen und zeigen, was es tut
  verify [DATEI]         dein Programm prüfen
  hint                   einen weiteren Hinweis zeigen
  solution               unsere Lösung zeigen, wenn du die Aufgabe gelöst hast; mit --anyway schon vorher
  status                 wie weit du bist
  language [KÜRZEL]      die Sprachen, oder eine wählen
  reset                  vergessen, was gelöst ist; deine Dateien bleiben
  help, version

Ohne DATEI nehmen run und verify die Datei, die select angelegt hat.

  --seed ZAHL            mit den Zufallszahlen eines früheren Laufs prüfen
  --language KÜRZEL      diese Sprache, nur für diesen Lauf

Rückgabewerte: 0 fertig, 1 nicht angenommen, 2 der Befehl ist falsch, 3 der Workshop selbst ist fehlerhaft.`,
  'unknown-command': 'Es gibt keinen Befehl „{command}“. help zeigt alle.',
  'too-many': '„{argument}“ ist ein Argument zu viel.',
  'not-a-number': '--{option} muss eine ganze Zahl von 0 bis 4294967295 sein.',
  'no-exercise': 'Es gibt keine Aufgabe „{name}“. list zeigt alle.',
  'select-first': 'Es ist keine Aufgabe gewählt. select NAME wählt eine; list zeigt alle.',
  'name-missing': 'Welche? select NAME oder select NUMMER; list zeigt alle.',
  'starter-made': 'Deine Vorlage: {file}. Danach: {program} verify {file}',
  'starter-kept':
    '{file} gibt es schon, deshalb wurde nichts geändert. Lösche die Datei oder benenne sie um, wenn du neu beginnen willst.',
  'already-solved': 'Diese Aufgabe hast du schon gelöst.',
  'no-file': '{file} gibt es nicht. select legt die Datei an, oder nenne deine: verify DATEI.',
  'no-entry': '{file} ist ein Verzeichnis ohne eine Datei namens index, etwa index.mjs.',
  accepted: 'Angenommen: {title} ist gelöst.',
  'next-is': 'Weiter: {program} next',
  'all-solved': 'Du hast alle Aufgaben gelöst. Glückwunsch!',
  refused: 'Noch nicht.',
  'seed-was': 'Startwert: {seed}. --seed {seed} prüft mit denselben Zufallszahlen.',
  'program-printed': 'Dein Programm gab aus:',
  'no-hint': 'Zu dieser Aufgabe gibt es keinen Hinweis.',
  'hint-number': 'Hinweis {number} von {count}',
  'no-more-hints': 'Das war der letzte Hinweis.',
  'solution-later':
    'Die Lösung erscheint, wenn du die Aufgabe gelöst hast. Mit --anyway siehst du sie jetzt.',
  'status-line': '{solved} von {count} gelöst. Gewählt: {selected}.',
  'none-selected': 'keine',
  'reset-done': 'Der Fortschritt ist gelöscht. Deine Dateien sind, wie sie waren.',
  'language-set': 'Die Sprache ist {language}.',
  'language-list': 'Sprachen: {languages}. Jetzt: {language}.',
  'no-language': 'Es gibt keine Sprache „{language}“, nur: {languages}.',
  'menu-keys': 'Pfeiltasten oder eine Nummer, dann Enter. q beendet.',
  'progress-damaged':
    'Dein Fortschritt war nicht lesbar. Er liegt jetzt unter {file}; der Workshop beginnt von vorn.',
  'progress-newer':
    'Dein Fortschritt stammt von einer neueren Version. Er liegt jetzt unter {file}; aktualisiere den Workshop und benenne die Datei zurück.',
  'timed-out':
    'Dein Programm war nach {seconds} s nicht fertig und wurde beendet. Wartet es auf etwas, oder läuft eine Schleife endlos?',
  'too-much-output': 'Dein Programm gab mehr als {count} Bytes aus und wurde beendet.',
  'write-refused':
    'Dein Programm wollte nach {path} schreiben. Es darf nur in das Verzeichnis schreiben, in dem es läuft.',
  'child-refused': 'Dein Programm wollte ein anderes Programm starten. Diese Aufgabe erlaubt das nicht.',
  'worker-refused': 'Dein Programm wollte einen Worker starten. Diese Aufgabe erlaubt das nicht.',
  'other-refused': 'Dein Programm wollte etwas, was diese Aufgabe nicht erlaubt: {permission}.',
  'ended-with-code': 'Dein Programm endete mit dem Rückgabewert {code}.',
  'ended-by-signal': 'Dein Programm wurde vom Signal {signal} beendet.',
  'call-threw': 'Deine Funktion warf einen Fehler.',
  'call-unloadable': 'Dein Modul ließ sich nicht laden oder endete mit einem Fehler.',
  'call-never-settled': 'Deine Funktion wurde nie fertig: Es blieb nichts, worauf sie warten konnte.',
  'call-exited':
    'Dein Modul beendete den Prozess mit dem Rückgabewert {code}, bevor deine Funktion fertig war.',
  'call-no-function': 'Dein Modul muss eine Funktion als {name} exportieren. Es exportiert: {found}.',
  'call-not-sendable': 'Was deine Funktion zurückgab, lässt sich nicht vergleichen: {message}',
  nothing: 'nichts',
  'check-too-long': 'Die Prüfung kam nach {seconds} s zu keinem Ende.',
  'check-failed': 'Die Prüfung konnte nicht bis zum Ende mit deinem Programm reden.',
  'expected-value': 'erwartet',
  'actual-value': 'deines',
  'difference-at': 'Der erste Unterschied ist in Zeile {line}:',
  'not-equal': 'Das Ergebnis ist nicht das erwartete.',
  'returned-value': 'Deine Funktion gab zurück:',
  'observed-value': 'Das hat deine Funktion getan:',
  'files-written': 'Es schrieb:',
  'workshop-wrong': 'Der Workshop selbst ist fehlerhaft; du kannst nichts dafür. Bitte sag es seinen Autoren:'
}
