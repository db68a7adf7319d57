# frozen_string_literal: true

# Uses the gem terrace-leveldb as a small program would: writes, reads, closes, opens again. Prints `ok`.

require 'leveldb'

path = ARGV.fetch 0
raise 'this is not the library of Terrace' unless LevelDB.terrace_version

db = LevelDB::DB.new path
db.put 'apple', 'red', sync: true
raise 'get' unless db.get('apple') == 'red'
db.close

again = LevelDB::DB.load path
raise 'get after close' unless again.get('apple') == 'red' && again.get('pear').nil?
again.close
puts "ok #{LevelDB::VERSION}, Ruby #{RUBY_VERSION}"
